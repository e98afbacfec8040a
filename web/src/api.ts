// The server's API (docs/api.md).
import type { ReportData, ShadowPrice } from '@views/views.js';
import type { Fetch, Progress } from './planner';
import type { PlanRequest } from './request';
import type { LevelSize } from './scale';
import type { State } from './state';
import { EventParser } from './stream';

export interface ModelRow {
  name: string;
  family: string;
  parameters: number;
  active_parameters: number;
  sequence: number;
}

export interface ClusterRow {
  name: string;
  devices: number;
  accelerator: string;
}

export interface ClusterInfo {
  name: string;
  devices: number;
  accelerator: { name: string; memory_bytes: number };
  levels: (LevelSize & { bandwidth_bytes_per_s: number; oversubscription: number })[];
}

export interface ModelInfo {
  name: string;
  parameters: number;
  default_sequence: number;
}

export interface Catalog {
  models: ModelRow[];
  clusters: ClusterRow[];
  recipes: { name: string }[];
  frameworks: string[];
  choices: { name: string; argument: string; text: string }[];
  targets: Target[];
}

// What plans are exported to, with the releases that exports were tried with.
export interface Target {
  name: string;
  title: string;
  text: string;
  usual_release?: string;
  releases: { name: string; released: string; tried: string; how: string }[];
}

export interface Advice {
  kind: string;
  sentence: string;
  step_s?: number;
  degrees?: string; // of the plan that would fit
  memory_bytes?: number;
  devices?: number;
  global_batch?: number;
  sequence?: number;
  field?: string; // of the question, to be set to `value`; empty: left open
  value?: string;
}

// What a question is answered with: a plan with its views, or why there is none.
export interface Answer extends FullPlan {
  status: 'optimal' | 'feasible' | 'infeasible' | 'limit' | 'alternative'; // the last: of plans that come next
  reason?: string;
  advice?: Advice[];
  advice_stopped?: boolean; // a limit came before all changes were tried
  lower_bound_s?: number;
  further_stopped?: boolean; // time was up before simpler plans had been looked for
  alternatives?: FullPlan[]; // the plans of views.alternatives, in full
  views?: ReportData;
}

// A plan as /plan gives it and as /views, /export and /report take it.
export interface FullPlan {
  stages?: { devices?: unknown }[];
}

export class ApiError extends Error {
  constructor(readonly where: string, what: string, readonly hint: string, readonly status: number) {
    super(what);
  }
}

// The server did not answer at all: the connection failed, and not the request.
export class Unreachable extends Error {}

// Fetching, and reading what is fetched, throw a TypeError where the connection fails.
function reached<T>(waiting: Promise<T>): Promise<T> {
  return waiting.catch((error: unknown) => {
    throw error instanceof TypeError ? new Unreachable(error.message) : error;
  });
}

const token = new URLSearchParams(location.search).get('token');

function headers(accept: string): Record<string, string> {
  const all: Record<string, string> = { Accept: accept, 'Content-Type': 'application/json' };
  if (token) all.Authorization = `Bearer ${token}`;
  return all;
}

function asError(value: unknown, status: number): ApiError {
  const error = (value as { error?: { where?: string; what?: string; hint?: string } } | null)?.error;
  return new ApiError(error?.where ?? '', error?.what ?? `the server answered with ${status}`, error?.hint ?? '',
    status);
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw asError(await response.json().catch(() => null), response.status);
}

async function get<T>(path: string): Promise<T> {
  return (await checked(await reached(fetch(`/api/v1/${path}`, { headers: headers('application/json') })))).json();
}

function post(path: string, body: unknown): Promise<Response> {
  const options = { method: 'POST', headers: headers('application/json'), body: JSON.stringify(body) };
  return reached(fetch(`/api/v1/${path}`, options)).then(checked);
}

export async function loadCatalog(): Promise<Catalog> {
  const [models, clusters, recipes] = await Promise.all([
    get<Pick<Catalog, 'models'>>('models'),
    get<Pick<Catalog, 'clusters'>>('clusters'),
    get<Pick<Catalog, 'recipes' | 'frameworks' | 'choices' | 'targets'>>('recipes'),
  ]);
  return { ...models, ...clusters, ...recipes };
}

// Says of an error that tells of no place what it is about.
function about(what: string) {
  return (error: unknown): never => {
    throw error instanceof ApiError && error.where === '' ? new ApiError(what, error.message, error.hint, error.status) : error;
  };
}

export async function describeCluster(name: string, text: string): Promise<ClusterInfo> {
  if (!text) return get<ClusterInfo>(`clusters/${encodeURIComponent(name)}`).catch(about('cluster'));
  return (await post('clusters', { cluster_text: text }).catch(about('cluster'))).json();
}

export async function describeModel(name: string, text: string): Promise<ModelInfo> {
  if (!text) return get<ModelInfo>(`models/${encodeURIComponent(name)}`).catch(about('model'));
  return (await post('models', { model_text: text }).catch(about('model'))).json();
}

// What files of other programs come to: the text of a cluster file, and what was known, assumed and left out.
export interface ImportedCluster {
  kind: string;
  devices: number;
  cluster_text: string;
  known: string[];
  assumed: string[];
  left_out: string[];
}

// Measurements of links change the cluster that is asked about.
export async function importFiles(files: { name: string; text: string }[], state: State): Promise<ImportedCluster> {
  const cluster = state.clusterText ? { cluster_text: state.clusterText } : { cluster: state.cluster };
  return (await post('import', { files, ...cluster })).json();
}

// A server takes so much; where a plan is larger, its devices are found again by the rule that placed them.
const kMostBytes = 900_000;

function sendable(plan: FullPlan): FullPlan {
  if (JSON.stringify(plan).length < kMostBytes) return plan;
  return { ...plan, stages: plan.stages?.map(({ devices: _, ...stage }) => stage) };
}

export async function viewsOf(plan: FullPlan): Promise<ReportData> {
  return (await post('views', { plan: sendable(plan) })).json();
}

export interface ShadowPrices {
  shadow_prices: ShadowPrice[];
  stopped?: boolean;
}

export async function shadowPricesOf(request: PlanRequest): Promise<ShadowPrices> {
  return (await post('shadow_prices', request)).json();
}

// Ends what a session still searches for.
export async function cancel(name: string): Promise<void> {
  await post('cancel', { session: name }).catch(() => undefined);
}

export async function reportOf(plan: FullPlan): Promise<Blob> {
  return (await post('report', { plan: sendable(plan) })).blob();
}

export interface Exported {
  files: { name: string; text: string }[];
  lost?: string[];
}

export async function exportOf(plan: FullPlan, to: string): Promise<Exported> {
  return (await post('export', { plan: sendable(plan), to })).json();
}

// A server that is busy is asked again.
const kBusy = 429;
const kTries = 8;
const kPauseMs = 1000;

// A plan with progress on the way, as server-sent events.
export const fetchPlan: Fetch<Answer> = async (request, signal, progress) => {
  for (let left = kTries; ; --left) {
    try {
      return await fetchOnce(request, signal, progress);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== kBusy || left === 1 || signal.aborted) throw error;
      await new Promise((resolve) => { setTimeout(resolve, kPauseMs); });
      if (signal.aborted) throw error;
    }
  }
};

const fetchOnce: Fetch<Answer> = async (request, signal, progress) => {
  const response = await checked(await reached(fetch('/api/v1/plan', {
    method: 'POST', headers: headers('text/event-stream'), body: JSON.stringify(request), signal,
  })));
  if (!response.body) throw new ApiError('', 'the answer is empty', '', 0);
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reached(reader.read());
    for (const event of parser.push(value ?? '')) {
      const data: unknown = JSON.parse(event.data);
      if (event.name === 'progress' || event.name === 'advice') progress(data as Progress);
      if (event.name === 'plan') return data as Answer;
      if (event.name === 'error') throw asError(data, (data as { status?: number }).status ?? 0);
    }
    if (done) throw new ApiError('', 'the server ended the answer too early', '', 0);
  }
};
