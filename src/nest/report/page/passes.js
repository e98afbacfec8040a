// What a timeline says in words of a box: its kind, its micro-batch, its times, and what is computed again.
import { formatDigits, formatSeconds } from './format.js';

export const kPasses = ['forward', 'backward', 'weight'];
export const kKindWords = {
  forward: 'forward', backward: 'backward', weight: 'weight gradients', receive: 'receive',
  'background receive': 'receive in the background', reduce: 'reduce gradients', gather: 'gather parameters',
  norm: 'norm of the gradients', optimizer: 'optimizer', recompute: 'recompute',
  'to host': 'copy to the host', 'host update': 'update by the host', 'from host': 'copy from the host',
};

export function recomputedSeconds(timeline, stage, s) {
  if (s.kind !== 'backward') return 0;
  const share = timeline.recomputed?.[stage]?.[s.chunk] ?? 0;
  return timeline.recomputed_s?.[stage]?.[s.chunk] ?? share * (s.to - s.from);
}

export function describeSegment(timeline, stage, s) {
  const lines = [`stage ${stage}: ${kKindWords[s.kind]}`];
  if ([...kPasses, 'receive', 'background receive'].includes(s.kind)) {
    lines.push(`micro-batch ${formatDigits(s.micro)}${timeline.chunks > 1 ? `, chunk ${s.chunk}` : ''}`);
  }
  lines.push(`${formatSeconds(s.from)} to ${formatSeconds(s.to)}: ${formatSeconds(s.to - s.from)}`);
  if (s.half !== undefined) lines.push(`beside a ${s.half === 0 ? 'backward' : 'forward'} pass of the other chunk`);
  const again = recomputedSeconds(timeline, stage, s);
  if (again > 0) lines.push(`of it computed again: ${formatSeconds(again)}`);
  return lines;
}
