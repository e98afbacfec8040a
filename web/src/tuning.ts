// What of a model is trained, in the words of `nest plan --train`: as a kind and what belongs to it, and back.

export type TuningKind = 'all' | 'lora' | 'layers';

export interface Train {
  kind: TuningKind;
  rank: string; // of adapters
  beside: string; // the products beside which they stand, "q_proj+v_proj"; "": the attention's projections
  layers: string; // "24.."
}

export const kUsualTrain: Readonly<Train> = { kind: 'all', rank: '16', beside: '', layers: '' };

// Words that are none of these are all of the model: links live longer than versions.
export function readTrain(text: string): Train {
  const [kind, rank = '', ...beside] = text.split(':');
  if (kind === 'lora') return { ...kUsualTrain, kind, rank, beside: beside.join(':') };
  const layers = /^layers\s+(.*)$/.exec(text);
  return layers ? { ...kUsualTrain, kind: 'layers', layers: layers[1] ?? '' } : { ...kUsualTrain };
}

export function spellTrain({ kind, rank, beside, layers }: Train): string {
  if (kind === 'lora') return `lora:${rank}${beside === '' ? '' : `:${beside}`}`;
  return kind === 'layers' ? `layers ${layers}` : '';
}

// Lists as people type them: "q_proj, v_proj" and "q_proj v_proj" are "q_proj+v_proj".
export function joinWords(typed: string, between: string): string {
  return typed.split(/[\s,+]+/).filter((word) => word !== '').join(between);
}

// What is wrong with the boxes of a kind, as [key of the box, sentence]; null where nothing is.
export function wrongTrain({ kind, rank, layers }: Train): ['rank' | 'layers', string] | null {
  if (kind === 'lora' && !/^[1-9]\d*$/.test(rank)) return ['rank', `'${rank}' is not a rank: write a whole number like 16`];
  if (kind === 'layers' && !/^(\d+\.\.\d*|\.\.\d+|\d+)$/.test(layers))
    return ['layers', layers === '' ? 'which layers? Write them like 24.. or 8..15' : `'${layers}' is not a range of layers: write it like 24.. or 8..15`];
  return null;
}
