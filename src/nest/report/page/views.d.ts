// Types of views.js and of the data that it draws (docs/formats/report.md).

export interface View {
  /** Draws again, at the next frame. */
  redraw(): void;
  /** Empties the element and stops listening. */
  destroy(): void;
}

export interface Strategy {
  tensor: number;
  sequence_parallel?: boolean;
  context?: number;
  context_method?: string;
  expert?: number;
  expert_tensor?: number;
}

export interface StageMemory {
  weights_bytes: number;
  gradients_bytes: number;
  optimizer_bytes: number;
  activations_bytes: number;
  workspace_bytes: number;
  fragmentation_bytes: number;
  reserve_bytes: number;
  total_bytes: number;
  margin_bytes?: number;
  capacity_bytes: number;
}

export interface StageTime {
  forward_s: number;
  backward_s: number;
  recompute_s: number;
  tensor_s: number;
  expert_s: number;
  context_s: number;
  pipeline_s: number;
  zero_s: number;
  total_s: number;
}

export interface Stage {
  layers: number[];
  chunks?: number[][];
  strategy: Strategy;
  recompute: string | { policy: string; modules?: string[]; layers?: number };
  time?: StageTime;
  memory?: StageMemory;
}

export interface Parallelism extends Strategy {
  cell?: number;
  pipeline: number;
  data: number;
  data_inner?: number;
  block_devices?: number;
  zero: number;
  zero_shards?: number;
  reshard?: string;
  recompute?: string;
  interleave?: number;
  schedule?: string;
  first_stage_first?: boolean;
}

export interface Breakdown {
  compute_s: number;
  recompute_s: number;
  tensor_s: number;
  expert_s: number;
  context_s: number;
  pipeline_s: number;
  bubble_s: number;
  data_s: number;
  zero_s: number;
  optimizer_s: number;
}

export interface Prediction {
  step_s: number;
  tokens_per_s: number;
  samples_per_s: number;
  flops_per_device_per_s: number;
  mfu: number;
  bubble_fraction: number;
  /** Where that share of measured runs lies. */
  interval?: { level: number; step_s: [number, number]; memory_bytes?: [number, number] };
  /** Of the step: all ranks wait for the slowest. */
  stragglers_s?: number;
  /** The probability that it fits into memory. */
  fits_probability?: number;
  breakdown: Breakdown;
}

/** A level of the network, innermost first; `sizes` where its domains differ. */
export interface Level {
  name: string;
  kind: string;
  domains: number;
  size?: number;
  sizes?: number[];
  dims?: number[];
  bandwidth_bytes_per_s: number;
  latency_s: number;
  oversubscription: number;
}

/** Cells of a stage, copy by copy: `cell` devices from each start on, or all their ids one after the other. */
export interface PlacedStage {
  cell: number;
  starts?: number[];
  devices?: number[];
}

export interface Timeline {
  copy: number;
  stands_for: number;
  step_s: number;
  pipeline_s: number;
  micro_batches: number;
  chunks: number;
  tick_s: number;
  kinds: string[];
  recomputed: number[][];
  recomputed_s?: number[][];
  /** A row for each stage: kind, micro-batch, chunk, from, length of each segment, the latter two in ticks. */
  rows: number[][];
  left_out?: { from_s: number; to_s: number; segments: number };
}

export interface Traffic {
  step_s: number;
  levels: {
    name: string;
    tensor_bytes?: number;
    context_bytes?: number;
    expert_bytes?: number;
    pipeline_bytes: number;
    gradient_bytes: number;
    parameter_bytes: number;
  }[];
  links: { name: string; level: number; bytes: number; utilisation: number; waited_s: number }[];
  /** What leaves each child of a level: devices at level 0, else the domains of the level below. */
  domains?: { level: number; of: string; bytes: number[]; busy: number[] }[];
  not_counted?: string;
}

/** A row for each stage: pairs of a time in ticks and what is held from then on, in units. */
export interface MemoryTimeline {
  step_s: number;
  tick_s: number;
  unit_bytes: number;
  /** Rows have the most of short pieces of time. */
  pieces?: boolean;
  rows: number[][];
}

export interface Roofline {
  precision: string;
  peak_flops_per_s: number;
  plain_peak_flops_per_s: number;
  reached_flops_per_s: number;
  bandwidth_bytes_per_s: number;
  reached_bytes_per_s: number;
  micro_batch: number;
  layers: {
    name: string;
    count: number;
    operators: {
      name: string; kind: string; forward_flops: number; forward_bytes: number; backward_flops: number; forward_s: number;
      backward_s: number;
      low: boolean; source: string;
    }[];
  }[];
}

/** What a change would buy: `share` of the step, below 0 where it is shorter. */
export interface ShadowPrice {
  change: string;
  step_s?: number;
  share?: number;
  status: string;
}

export interface OtherPlan {
  step_s: number;
  micro_batch: number;
  devices?: number;
  parallelism: Partial<Parallelism>;
  /** The strict optimum, in whose place a simpler plan stands; the first of the list. */
  strict?: boolean;
  /** Longer than the best by less than predictions err. */
  near_tie?: boolean;
  /** Against the best. */
  loses_most_by?: { name: string; change_s: number };
  /** Of the strict optimum: what the plan that is taken loses against it. */
  taken_loses_most_by?: { name: string; change_s: number };
}

export interface ReportData {
  nest: { version: string; schema: number };
  title: string;
  headline: string;
  degrees: string;
  batches: string;
  recompute: string;
  status: 'optimal' | 'feasible' | 'infeasible';
  reason: string;
  proof: string;
  /** Why a simpler plan stands in place of the best; empty where none does. */
  simpler: string;
  /** "fits with 97 %"; empty where nothing is known. */
  fits: string;
  lower_bound_s?: number;
  inputs: { model: unknown; cluster: unknown; recipe: unknown };
  model: { name: string; parameters?: number; layers: string[] };
  cluster: { name: string; devices: number; levels: unknown[] };
  accelerator: { name: string; memory_bytes: number };
  levels: Level[];
  training: {
    global_batch: number; sequence: number; micro_batch: number; micro_batches: number;
    precision: string; optimizer: string;
    /** What is trained; missing: all of it. */
    train?: { lora?: { rank: number; targets: string[] }; layers?: string };
    freeze?: string[];
    frozen_bits?: number;
  };
  parallelism: Parallelism;
  stages: Stage[];
  placement: { used: number; stages: PlacedStage[] };
  predicted: Prediction;
  /** As `nest simulate --json`; missing, like timeline and traffic, where the step was too long to simulate. */
  simulated?: { step_s: number; priced_s: number; cause: string; stages: { peak_bytes: number }[] };
  timeline?: Timeline;
  traffic?: Traffic;
  memory_timeline?: MemoryTimeline;
  roofline?: Roofline;
  shadow_prices?: ShadowPrice[];
  sensitivity: {
    binds: string[];
    effects: { change: string; status: string; reason?: string; step_s: number }[];
  };
  alternatives: OtherPlan[];
  notes: string[];
  command: string;
  file: string;
}

export type ColourBy = 'stage' | 'copy' | 'tensor' | 'context' | 'expert' | 'memory' | 'traffic';

export interface MapOptions {
  colourBy?: ColourBy;
  /** Told when the user chooses another. */
  onColourBy?: (colourBy: ColourBy) => void;
  /** Whether borders of domains show how busy their links are; true unless told otherwise. */
  links?: boolean;
  onLinks?: (links: boolean) => void;
}

export interface AlternativesOptions {
  /** Told which other plan is to be shown in full; null: the plan itself. */
  onOpen?: (which: number | null) => void;
  opened?: number | null;
  /** Others are being looked for. */
  searching?: boolean;
}

/** Each draws into the element, in place of what it held, and again when called again. */
export function placementMap(
  element: HTMLElement,
  data: Pick<ReportData, 'cluster' | 'levels' | 'placement' | 'stages' | 'traffic'>,
  options?: MapOptions,
): View;
export function pipelineTimeline(element: HTMLElement, data: Pick<ReportData, 'timeline' | 'predicted'>): View;
export function memoryBars(element: HTMLElement, data: Pick<ReportData, 'stages' | 'simulated'>): View;
export function memoryTimeline(element: HTMLElement, data: Pick<ReportData, 'memory_timeline' | 'stages'>): View;
export function rooflineChart(element: HTMLElement, data: Pick<ReportData, 'roofline'>): View;
export function shadowBars(element: HTMLElement, data: Pick<ReportData, 'shadow_prices'>, searching?: boolean): View;
export function timeBreakdown(element: HTMLElement, data: Pick<ReportData, 'predicted' | 'stages'>): View;
export function trafficBars(element: HTMLElement, data: Pick<ReportData, 'traffic' | 'levels' | 'placement'>): View;
export function sensitivityBars(element: HTMLElement, data: Pick<ReportData, 'sensitivity' | 'predicted'>): View;
export function alternativesTable(
  element: HTMLElement,
  data: Pick<ReportData, 'alternatives' | 'predicted' | 'parallelism' | 'training'>,
  options?: AlternativesOptions,
): View;
export function stagesTable(element: HTMLElement, data: Pick<ReportData, 'stages' | 'placement'>): View;
export function inputsPanel(element: HTMLElement, data: Pick<ReportData, 'inputs'>): View;

/** Draws all views again: after a change of theme that the browser does not tell of. */
export function redrawViews(): void;
