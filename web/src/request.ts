// The body of POST /api/v1/plan that a state asks for.
import type { Advice } from './api';
import type { State } from './state';

export type PlanRequest = Record<string, unknown>;

// A question is asked in up to two turns, so that there is something to see soon: for what a moment finds, without
// advice; and, where the clock cut that short, with all the time that the server gives. Both ask the same, so that the
// clock decides when the answer is shown, and not which one. Meanwhile progress has bounds.
const kMomentS = 0.7;
const kRunnersUp = 3; // as many as nest plan shows

export function requestOf(state: State, session: string): PlanRequest {
  const request: PlanRequest = {
    session, views: true, runners_up: kRunnersUp, in_full: true, time_limit_s: kMomentS, advice: false,
    global_batch: state.batch,
  };
  if (state.modelText) request.model_text = state.modelText;
  else request.model = state.model;
  if (state.clusterText) request.cluster_text = state.clusterText;
  else request.cluster = state.cluster;
  if (state.recipeText) request.recipe_text = state.recipeText;
  else request.recipe = state.recipe;
  if (state.framework) request.for = state.framework;
  if (state.precision) request.precision = state.precision;
  if (state.optimizer) request.optimizer = state.optimizer;
  if (state.train) request.train = state.train;
  if (state.freeze) request.freeze = state.freeze;
  if (state.frozenBits) request.frozen_bits = state.frozenBits;
  if (state.risky) request.risky = true;
  else if (state.margin) request.memory_margin = state.margin;
  else if (state.fits !== null) request.fits = state.fits;
  if (state.strict) request.strict = true;
  if (state.devices !== null) request.devices = state.devices;
  if (state.sequence !== null) request.sequence = state.sequence;
  const changes: Record<string, unknown> = {};
  if (state.memory !== null) changes.memory_bytes = state.memory;
  if (Object.keys(state.bandwidth).length > 0) changes.bandwidth_bytes_per_s = state.bandwidth;
  if (Object.keys(state.oversubscription).length > 0) changes.oversubscription = state.oversubscription;
  if (Object.keys(changes).length > 0) request.changes = changes;
  if (Object.keys(state.choices).length > 0) request.choices = state.choices;
  return request;
}

// With all the time that the server gives, and advice.
export function patientOf(request: PlanRequest): PlanRequest {
  const { time_limit_s: _, advice: __, ...rest } = request;
  return rest;
}

export function isPatient(request: PlanRequest): boolean {
  return request.time_limit_s === undefined;
}

export function pricesSession(session: string): string {
  return `${session.slice(0, 50)}-prices`;
}

// What more of each thing would buy: apart from the plan, for whoever looks at it.
export function pricesOf(request: PlanRequest): PlanRequest {
  const { views: _, ...rest } = patientOf(request);
  return { ...rest, session: pricesSession(`${request.session as string}`) };
}

// Does what the advice says; false where it is none of what the page can set.
export function takeAdvice(state: State, advice: Advice): boolean {
  if (advice.memory_bytes) state.memory = advice.memory_bytes;
  else if (advice.devices) state.devices = advice.devices;
  else if (advice.global_batch) state.batch = advice.global_batch;
  else if (advice.sequence) state.sequence = advice.sequence;
  else if (advice.field === 'for') state.framework = '';
  else if (advice.field && advice.value) state.choices[advice.field] = advice.value;
  else if (advice.field) delete state.choices[advice.field];
  else return false;
  return true;
}

// Whether more time can change the answer.
export function isOpen(
  answer: { status: string; advice_stopped?: boolean; further_stopped?: boolean }, request: PlanRequest,
): boolean {
  if (isPatient(request)) return false;
  if (answer.status === 'optimal') return answer.further_stopped === true;
  return answer.status !== 'infeasible' || answer.advice_stopped === true || request.advice === false;
}
