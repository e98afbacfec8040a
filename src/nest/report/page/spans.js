// The simulated step as lists that can be drawn. No drawing here: numbers only.

const kPairs = { 'forward beside': ['forward', 0], 'backward beside': ['backward', 1] };
const kFields = 5;  // of a segment in the data: kind, micro-batch, chunk, from, length

// Rows of segments {kind, micro, chunk, from, to} in seconds, in order of their beginnings; of compute and of
// what runs beside it; copies from the host, which run beside those to it, have a list of their own. A pass that
// runs beside another says which half of the row it has: 0 the upper, 1 the lower.
export function unpackTimeline(timeline) {
  const { kinds, tick_s: tick } = timeline;
  const lists = { reduce: 'beside', gather: 'beside', 'background receive': 'beside', 'to host': 'beside', 'from host': 'back' };
  return timeline.rows.map((flat) => {
    const row = { compute: [], beside: [], back: [] };
    for (let i = 0; i + kFields <= flat.length; i += kFields) {
      const [kind, pair] = kPairs[kinds[flat[i]]] ?? [kinds[flat[i]]];
      const segment = { kind, micro: flat[i + 1], chunk: flat[i + 2], from: flat[i + 3] * tick,
        to: (flat[i + 3] + flat[i + 4]) * tick };
      if (pair !== undefined) segment.half = pair;
      row[lists[kind] ?? 'compute'].push(segment);
    }
    return row;
  });
}

// The first segment that ends after a time.
export function firstAfter(segments, time) {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle].to <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Of a pass that runs beside another, each has half of the time.
const widthOf = (s) => (s.half === undefined ? 1 : 0.5);

// What to draw of a row between two times on `pixels` columns: segments that are wide enough as boxes, runs of
// narrower ones as columns with the share of each kind: {boxes: [segment], columns: [{x, shares}]}.
export function gatherSpans(segments, from, to, pixels, narrowest = 1.5) {
  const scale = pixels / (to - from);
  const boxes = [];
  const columns = new Map();
  for (let i = firstAfter(segments, from); i < segments.length && segments[i].from < to; ++i) {
    const s = segments[i];
    if ((s.to - s.from) * scale >= narrowest) {
      boxes.push(s);
      continue;
    }
    const last = Math.min(pixels - 1, Math.floor((s.to - from) * scale));
    for (let x = Math.max(0, Math.floor((s.from - from) * scale)); x <= last; ++x) {
      const begin = Math.max(s.from, from + x / scale);
      const share = (Math.min(s.to, from + (x + 1) / scale) - begin) * scale * widthOf(s);
      if (share <= 0) continue;
      if (!columns.has(x)) columns.set(x, {});
      const shares = columns.get(x);
      shares[s.kind] = (shares[s.kind] ?? 0) + share;
    }
  }
  return { boxes, columns: [...columns].map(([x, shares]) => ({ x, shares })) };
}

const kReadablePass = 22;  // pixels in which a number of two digits can be read
const kLeastPass = 4;
const kBreakRoom = 26;
const kMostDenser = 4;
const kPassesShare = 0.4;

// Three quarters of the passes take longer.
export function shortPass(rows) {
  const passes = rows.flatMap((row) => row.compute.filter((s) => s.kind === 'forward' || s.kind === 'backward'))
    .map((s) => s.to - s.from).sort((a, b) => a - b);
  return passes[Math.floor(passes.length / 4)] ?? 0;
}

// The parts of a step that are shown at first: all of it where its passes can be read, else its beginning and its end.
// The end has what comes after the last pass, up to `work`, where the devices have nothing left to do but wait, and
// passes in kPassesShare of it at least: at the scale of the beginning or, where that is too little, at up to kMostDenser
// times as much. Where there are many stages, the parts are long enough to show how the pipeline fills.
// `short`: a pass that can just be read. [{from, to, x, end}], in seconds and in pixels of `room`.
export function chooseWindows(stages, short, step, pipeline, room, work = step) {
  const whole = [{ from: 0, to: step, x: 0, end: room }];
  if (!(short > 0) || (short / step) * room >= kReadablePass) return whole;
  const half = (room - kBreakRoom) / 2;
  const wide = Math.max(kLeastPass, Math.min(kReadablePass, half / (stages + 3)));
  const shown = (half / wide) * short;
  const after = Math.max(shown / 4, work - pipeline + shown / 16);
  const length = Math.max(shown, Math.min(after / (1 - kPassesShare), kMostDenser * shown));
  const end = Math.min(step, pipeline + Math.min(after, (1 - kPassesShare) * length));
  if (shown + length >= end) return whole;
  return [{ from: 0, to: shown, x: 0, end: half }, { from: end - length, to: end, x: half + kBreakRoom, end: room }];
}

// Of a row: seconds of each kind, and idle seconds until the end of the step.
export function sumKinds(segments) {
  const sums = {};
  for (const s of segments) sums[s.kind] = (sums[s.kind] ?? 0) + (s.to - s.from) * widthOf(s);
  return sums;
}
