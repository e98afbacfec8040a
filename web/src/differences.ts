// Two plans as rows of a table: what they decide, what they cost, and whether the second is better.
import { usedBytes } from '@views/devices.js';
import { formatChange, formatDigits, formatMemory, formatPercent, formatSeconds } from '@views/format.js';
import type { ReportData } from '@views/views.js';

export interface DifferenceRow {
  name: string;
  first: string;
  second: string;
  change: string; // "-6.2 %", or empty
  verdict: 'better' | 'worse' | 'other' | 'same';
}

export interface DifferenceGroup {
  title: string;
  rows: DifferenceRow[];
}

function plain(name: string, first: string, second: string): DifferenceRow {
  return { name, first, second, change: '', verdict: first === second ? 'same' : 'other' };
}

// `good`: 1 where more is better, -1 where less is, 0 where neither is.
function number(
  name: string, first: number, second: number, good: -1 | 0 | 1, format: (value: number) => string,
): DifferenceRow {
  const row = plain(name, format(first), format(second));
  if (row.verdict === 'same') return row;
  row.change = first === 0 ? `+${format(second)}` : formatChange(second / first - 1);
  if (good !== 0) row.verdict = (second - first) * good > 0 ? 'better' : 'worse';
  return row;
}

function fullest(plan: ReportData): number {
  return Math.max(0, ...plan.stages.map((s) => (s.memory ? usedBytes(s.memory) : 0)));
}

// Told even where they are the same.
const kMain = ['micro-batch', 'tensor', 'pipeline', 'data', 'zero', 'recompute'];

// That of experts says nothing where it is that of everything else.
const kDegrees = [
  'tensor', 'sequence_parallel', 'context', 'expert', 'expert_tensor', 'pipeline', 'data', 'zero', 'zero_shards', 'reshard',
  'recompute', 'schedule', 'interleave',
] as const;

export function differences(first: ReportData, second: ReportData): DifferenceGroup[] {
  const [a, b] = [first.predicted, second.predicted];
  const cost = [
    number('tokens a second', a.tokens_per_s, b.tokens_per_s, 1, formatDigits),
    number('step', a.step_s, b.step_s, -1, formatSeconds),
    number('MFU', a.mfu, b.mfu, 1, formatPercent),
    number('bubble', a.bubble_fraction, b.bubble_fraction, -1, formatPercent),
    number('fullest device uses', fullest(first), fullest(second), 0, formatMemory),
    number('devices used', first.placement.used, second.placement.used, 0, formatDigits),
  ];
  const inputs = [
    plain('model', first.model.name, second.model.name),
    plain('cluster', first.cluster.name, second.cluster.name),
    number('devices', first.cluster.devices, second.cluster.devices, 0, formatDigits),
    number('memory of a device', first.accelerator.memory_bytes, second.accelerator.memory_bytes, 0, formatMemory),
    number('global batch', first.training.global_batch, second.training.global_batch, 0, formatDigits),
    number('sequence', first.training.sequence, second.training.sequence, 0, formatDigits),
    plain('recipe', nameOf(first.inputs.recipe), nameOf(second.inputs.recipe)),
    plain('precision', first.training.precision, second.training.precision),
    plain('optimizer', first.training.optimizer, second.training.optimizer),
    plain('trained', trained(first), trained(second)),
    plain('frozen', frozen(first), frozen(second)),
    plain('frozen weights in', bits(first), bits(second)),
    ...levelRows(first, second),
  ].filter((row) => row.verdict !== 'same');
  const spell = (value: unknown) => (value === undefined ? '-' : typeof value === 'boolean' ? (value ? 'on' : 'off') : `${value}`);
  const degrees = [
    number('micro-batch', first.training.micro_batch, second.training.micro_batch, 0, formatDigits),
    number('micro-batches', first.training.micro_batches, second.training.micro_batches, 0, formatDigits),
    ...kDegrees.filter((key) => key !== 'expert_tensor' || [first, second].some((p) => p.parallelism[key] !== p.parallelism.tensor)).map((key) => plain(key.replaceAll('_', ' '), spell(first.parallelism[key]), spell(second.parallelism[key]))),
  ].map((row) => ({ ...row, change: '' })).filter((row) => row.verdict !== 'same' || kMain.includes(row.name));
  const parts = Object.keys(a.breakdown).map((key) => {
    const name = key as keyof typeof a.breakdown;
    return number(name.replace(/_s$/, ''), a.breakdown[name], b.breakdown[name], -1, formatSeconds);
  });
  return [
    { title: 'Result', rows: cost },
    { title: 'Question', rows: inputs },
    { title: 'Plan', rows: degrees },
    { title: 'Where the step goes', rows: parts.filter((r) => r.first !== '0 s' || r.second !== '0 s') },
  ].filter((group) => group.rows.length > 0);
}

function nameOf(input: unknown): string {
  if (typeof input === 'string') return input;
  const { name, framework } = (input ?? {}) as { name?: string; framework?: string };
  return name ?? framework ?? '-';
}

function trained({ training: { train } }: ReportData): string {
  if (train?.lora) return `adapters of rank ${train.lora.rank} beside ${train.lora.targets.join(', ')}`;
  return train?.layers ? `layers ${train.layers}` : 'all';
}

function frozen({ training: { freeze } }: ReportData): string {
  return freeze?.length ? freeze.join(', ') : 'nothing';
}

function bits({ training }: ReportData): string {
  return `${training.frozen_bits ?? 16} bits`;
}

function levelRows(first: ReportData, second: ReportData): DifferenceRow[] {
  const rows: DifferenceRow[] = [];
  for (const level of first.levels) {
    const other = second.levels.find((l) => l.name === level.name);
    const spell = (rate: number) => `${Number((rate / 1e9).toPrecision(4))} GB/s`;
    if (!other) continue;
    rows.push(number(`${level.name} bandwidth`, level.bandwidth_bytes_per_s, other.bandwidth_bytes_per_s, 0, spell),
      plain(`${level.name} oversubscription`, `${level.oversubscription} : 1`, `${other.oversubscription} : 1`));
  }
  return rows;
}
