// Numbers as people read them: three digits that count, SI units, GiB for memory.
//
//   formatSeconds(0.2163) -> "216 ms"    formatMemory(80e9) -> "74.5 GiB"    formatPercent(0.0614) -> "6.1 %"

const kPrefixes = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

// Three digits that count, without an exponent; whole numbers from 100 on.
export function threeDigits(value) {
  if (!Number.isFinite(value)) return '?';
  const size = Math.abs(value);
  if (size === 0) return '0';
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  const text = value.toFixed(digits);
  return digits === 0 ? text : text.replace(/\.?0+$/, '');
}

export function formatDigits(value) {
  if (!Number.isFinite(value)) return '?';
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

export function formatSeconds(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return '0 s';
  if (size >= 1e4) return `${formatDigits(seconds)} s`;
  if (size >= 0.9995) return `${threeDigits(seconds)} s`;
  if (size >= 0.9995e-3) return `${threeDigits(seconds * 1e3)} ms`;
  if (size >= 0.9995e-6) return `${threeDigits(seconds * 1e6)} us`;
  return `${threeDigits(seconds * 1e9)} ns`;
}

export function formatScaled(value, unit) {
  for (const [size, prefix] of kPrefixes) {
    if (Math.abs(value) >= 0.9995 * size) return `${threeDigits(value / size)} ${prefix}${unit}`;
  }
  return `${threeDigits(value)} ${unit}`;
}

// 1 GB = 1e9 bytes: what goes over links.
export function formatBytes(bytes) {
  return formatScaled(bytes, 'B');
}

// 1 GiB = 2^30 bytes: what devices hold.
export function formatMemory(bytes) {
  if (Math.abs(bytes) >= 2 ** 30) return `${threeDigits(bytes / 2 ** 30)} GiB`;
  if (Math.abs(bytes) >= 2 ** 20) return `${threeDigits(bytes / 2 ** 20)} MiB`;
  return `${threeDigits(bytes / 2 ** 10)} KiB`;
}

export function formatPercent(share) {
  if (!Number.isFinite(share)) return '?';
  const percent = 100 * share;
  if (percent !== 0 && Math.abs(percent) < 0.05) return percent < 0 ? '> -0.1 %' : '< 0.1 %';
  return `${percent.toFixed(1)} %`;
}

export function formatChange(share) {
  if (Math.abs(share) < 5e-5) return '0 %';
  const percent = 100 * share;
  const text = Math.abs(percent) < 0.1 ? percent.toFixed(2) : percent.toFixed(1);
  return `${percent > 0 ? '+' : ''}${text} %`;
}

// Round positions from 0 to at most `end`, about `count` of them.
export function roundTicks(from, to, count) {
  if (!(to > from) || !(count > 0)) return [];
  const rough = (to - from) / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * (rough / magnitude > 5 ? 10 : rough / magnitude > 2 ? 5 : rough / magnitude > 1 ? 2 : 1);
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}

// Times at an axis, in one unit and with as many digits as tell neighbours apart: "89.45 s", "89.50 s".
export function tickTimes(ticks) {
  const most = Math.max(0, ...ticks.map(Math.abs));
  if (ticks.length < 2 || most === 0) return ticks.map(formatSeconds);
  const [size, unit] = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns']].find(([s]) => most >= 0.9995 * s) ?? [1e-9, 'ns'];
  const digits = Math.max(0, Math.ceil(-Math.log10((ticks[1] - ticks[0]) / size) - 1e-9));
  return ticks.map((tick) => {
    if (tick === 0) return `0 ${unit}`;
    const [whole, rest] = (tick / size).toFixed(Math.min(20, digits)).split('.');
    return `${whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')}${rest ? `.${rest}` : ''} ${unit}`;
  });
}

// Ids in short: [0, 1, 2, 7] -> "0-2, 7"
export function spellIds(ids) {
  const parts = [];
  for (let i = 0; i < ids.length;) {
    let j = i;
    while (j + 1 < ids.length && ids[j + 1] === ids[j] + 1) ++j;
    parts.push(i === j ? `${ids[i]}` : `${ids[i]}-${ids[j]}`);
    i = j + 1;
  }
  return parts.join(', ');
}

export function plural(count, word) {
  return `${formatDigits(count)} ${word}${count === 1 ? '' : word.endsWith('ch') ? 'es' : 's'}`;
}

// "none", "full on 2 layers": a stage's recomputation as its JSON has it.
export function spellRecompute(recompute) {
  if (typeof recompute === 'string') return recompute;
  if (!recompute) return '';
  const what = recompute.modules ? `${recompute.policy} ${recompute.modules.join(', ')}` : recompute.policy;
  return recompute.layers ? `${what} on ${plural(recompute.layers, 'layer')}` : what;
}
