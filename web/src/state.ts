// All that the user has chosen: what a link holds, and from which every request follows.

export interface State {
  model: string; // a name of the zoo
  modelText: string; // a pasted config.json; where it is not empty, it counts
  cluster: string;
  clusterText: string;
  recipe: string;
  recipeText: string; // a pasted recipe
  framework: string; // "": plans of any
  precision: string; // "": the recipe's
  optimizer: string; // "": the recipe's
  train: string; // "lora:16", "layers 24.."; "": all of the model
  freeze: string; // parts that stay as they are, "embedding,router"
  frozenBits: string; // "8" or "4"; "": 16
  devices: number | null; // null: the cluster's own
  memory: number | null; // bytes of a device
  bandwidth: Record<string, number>; // bytes a second, of levels that were changed
  oversubscription: Record<string, number>; // of levels that were changed
  batch: number;
  sequence: number | null; // null: the model's own
  choices: Record<string, string>; // "tensor": "4,8"
  fits: number | null; // the probability with which a plan must fit; null: the server's own
  margin: string; // of memory that stays free, "8%"; "": what `fits` takes
  risky: boolean; // by the estimate alone
  strict: boolean; // the strict optimum, not the simplest of near ties
  view: string;
}

// What is on the screen: a question, and perhaps another to compare with.
export interface Link {
  now: State;
  pinned: State | null;
}

export const kDefaults: Readonly<State> = {
  model: 'llama3.1-70b',
  modelText: '',
  cluster: 'h100-spine-leaf',
  clusterText: '',
  recipe: 'megatron',
  recipeText: '',
  framework: '',
  precision: '',
  optimizer: '',
  train: '',
  freeze: '',
  frozenBits: '',
  devices: null,
  memory: null,
  bandwidth: {},
  oversubscription: {},
  batch: 1024,
  sequence: null,
  choices: {},
  fits: null,
  margin: '',
  risky: false,
  strict: false,
  view: 'placement',
};

const kLongestText = 500_000;

export function copyOf(state: Readonly<State>): State {
  return { ...state, bandwidth: { ...state.bandwidth }, oversubscription: { ...state.oversubscription },
    choices: { ...state.choices } };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

// What is missing or makes no sense in a link takes its default: links live longer than versions.
export function readState(value: unknown): State {
  const given = Object.fromEntries(entriesOf(value));
  const state = copyOf(kDefaults);
  for (const key of [
    'model', 'modelText', 'cluster', 'clusterText', 'recipe', 'recipeText', 'framework', 'precision',
    'optimizer', 'train', 'freeze', 'frozenBits', 'margin', 'view',
  ] as const) {
    const text = given[key];
    if (typeof text === 'string' && text.length <= kLongestText) state[key] = text;
  }
  for (const key of ['devices', 'memory', 'sequence'] as const) {
    if (isCount(given[key])) state[key] = given[key];
  }
  if (isCount(given.batch)) state.batch = given.batch;
  if (isCount(given.fits) && given.fits < 1) state.fits = given.fits;
  for (const key of ['risky', 'strict'] as const) state[key] = given[key] === true;
  for (const key of ['bandwidth', 'oversubscription'] as const) {
    for (const [level, number] of entriesOf(given[key])) {
      if (isCount(number)) state[key][level] = number;
    }
  }
  for (const [name, text] of entriesOf(given.choices)) {
    if (typeof text === 'string' && text !== '') state.choices[name] = text;
  }
  return state;
}

// What differs between two questions: "bandwidth.rack, model". Which view is open is no part of the question.
export function changedKeys(a: State, b: State): string {
  const flat = (state: State) => Object.entries(state).filter(([key]) => key !== 'view').flatMap(([key, value]) =>
    (typeof value === 'object' && value !== null ? Object.entries(value).map(([k, v]): [string, unknown] => [`${key}.${k}`, v])
      : [[key, value] as [string, unknown]]));
  const [before, after] = [new Map(flat(a)), new Map(flat(b))];
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key)).sort().join(', ');
}

// Only what differs from the defaults, so that links stay short.
function inShort(state: State): Record<string, unknown> {
  const short: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(state)) {
    const usual = kDefaults[key as keyof State];
    if (JSON.stringify(value) !== JSON.stringify(usual)) short[key] = value;
  }
  return short;
}

export function encodeLink(link: Link): string {
  const short = inShort(link.now);
  if (link.pinned) short.pinned = inShort(link.pinned);
  if (Object.keys(short).length === 0) return '';
  let bytes = '';
  for (const byte of new TextEncoder().encode(JSON.stringify(short))) bytes += String.fromCharCode(byte);
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

// Null where the text is no link of ours.
export function decodeLink(text: string): Link | null {
  if (text === '') return { now: copyOf(kDefaults), pinned: null };
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const pinned = Object.fromEntries(entriesOf(value)).pinned;
    return { now: readState(value), pinned: pinned === undefined ? null : readState(pinned) };
  } catch {
    return null;
  }
}
