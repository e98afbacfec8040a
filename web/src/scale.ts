// The values at which a slider stops.

// Three digits that count.
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

// `steps` on each side of the base, `perDouble` of them for a factor of two. The base itself stays exact.
export function aroundBase(base: number, steps: number, perDouble: number): number[] {
  const stops: number[] = [];
  for (let k = -steps; k <= steps; ++k) stops.push(k === 0 ? base : rounded(base * 2 ** (k / perDouble)));
  return stops;
}

export function powersOfTwo(from: number, to: number): number[] {
  const stops: number[] = [];
  for (let n = from; n <= to; n *= 2) stops.push(n);
  return stops;
}

// The stop nearest to a value, by ratio.
export function nearestStop(stops: readonly number[], value: number): number {
  let best = 0;
  const apart = (i: number) => Math.abs(Math.log((stops[i] ?? 1) / value));
  for (let i = 1; i < stops.length; ++i) {
    if (apart(i) < apart(best)) best = i;
  }
  return best;
}

export interface NumberRule {
  unit: string;
  noun?: string; // what the number counts, where the unit does not say it
  perUnit: number; // of the value: 1e9 for GB/s
  whole: boolean;
  least: number; // in units
  most: number;
}

// The value of what somebody typed, or what is wrong with it. The unit may stand behind the number.
export function readNumber(typed: string, rule: NumberRule): number | string {
  const text = typed.trim();
  const bare = text.toLowerCase().endsWith(rule.unit.toLowerCase()) ? text.slice(0, text.length - rule.unit.length).trim() : text;
  const what = rule.noun ?? rule.unit;
  const plain = bare.replaceAll(',', '');
  if (text === '') return `a number of ${what} is expected`;
  const number = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  if (!Number.isFinite(number)) return `'${text}' is not a number of ${what}`;
  if (rule.whole && !Number.isInteger(number)) return `'${text}' is not a whole number`;
  const spell = (n: number) => n.toLocaleString('en-US', { maximumFractionDigits: 3 });
  if (number < rule.least) return `at least ${spell(rule.least)} ${what}, not ${text}`;
  if (number > rule.most) return `at most ${spell(rule.most)} ${what}, not ${text}`;
  return number * rule.perUnit;
}

export interface LevelSize {
  name: string;
  kind: string;
  size?: number;
  sizes?: number[];
}

// Whether a cluster can have so many devices: whole children of some level, all of them for the levels inside
// it. Only a guide for the slider; the server has the last word.
export function fitsLevels(levels: readonly LevelSize[], devices: number): boolean {
  let inside = 1;
  for (let l = 0; l < levels.length; ++l) {
    const level = levels[l];
    if (!level || level.size === undefined) return false;
    const last = l + 1 === levels.length;
    const whole = devices % inside === 0;
    const children = devices / inside;
    const grid = level.kind === 'mesh' || level.kind === 'torus';
    if (whole && (grid ? children === level.size : last || children <= level.size)) return true;
    inside *= level.size;
  }
  return false;
}

export function deviceStops(levels: readonly LevelSize[], own: number, most: number): number[] {
  const stops = powersOfTwo(1, Math.min(most, own * 8)).filter((n) => fitsLevels(levels, n));
  if (!stops.includes(own)) stops.push(own);
  return stops.sort((a, b) => a - b);
}
