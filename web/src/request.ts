// The body of POST /api/v1/plan that a state asks for.
import type { Advice } from './api';
import type { State } from './state';

export type PlanRequest = Record<string, unknown>;

// A question is asked in up to three turns, so that there is something to see soon: for the best plan of a moment;
// for the proof, where that took longer; and, when nobody drags, for the plans that come next.
const kMomentS = 1.5;
const kOthersS = 5;

export function requestOf(state: State, session: string): PlanRequest {
  const request: PlanRequest = { session, views: true, time_limit_s: kMomentS, global_batch: state.batch };
  if (state.modelText) request.model_text = state.modelText;
  else request.model = state.model;
  if (state.clusterText) request.cluster_text = state.clusterText;
  else request.cluster = state.cluster;
  request.recipe = state.recipe;
  if (state.framework) request.for = state.framework;
  if (state.precision) request.precision = state.precision;
  if (state.devices !== null) request.devices = state.devices;
  if (state.sequence !== null) request.sequence = state.sequence;
  const changes: Record<string, unknown> = {};
  if (state.memory !== null) changes.memory_bytes = state.memory;
  if (Object.keys(state.bandwidth).length > 0) changes.bandwidth_bytes_per_s = state.bandwidth;
  if (Object.keys(changes).length > 0) request.changes = changes;
  if (Object.keys(state.choices).length > 0) request.choices = state.choices;
  return request;
}

// With all the time that the server gives.
export function patientOf(request: PlanRequest): PlanRequest {
  const { time_limit_s: _, ...rest } = request;
  return rest;
}

export function isPatient(request: PlanRequest): boolean {
  return request.time_limit_s === undefined;
}

export function othersOf(request: PlanRequest): PlanRequest {
  return { ...request, views: false, runners_up: 4, time_limit_s: kOthersS };
}

// Does what the advice says; false where it is none of what the page can set.
export function takeAdvice(state: State, advice: Advice): boolean {
  if (advice.memory_bytes) state.memory = advice.memory_bytes;
  else if (advice.devices) state.devices = advice.devices;
  else if (advice.global_batch) state.batch = advice.global_batch;
  else if (advice.sequence) state.sequence = advice.sequence;
  else return false;
  return true;
}

export function asksForOthers(request: PlanRequest): boolean {
  return request.runners_up !== undefined;
}
