// The simulated step as lists that can be drawn. No drawing here: numbers only.

const kFields = 5;  // of a segment in the data: kind, micro-batch, chunk, from, length

// Rows of segments {kind, micro, chunk, from, to} in seconds, in order of their beginnings; of compute and of
// what runs beside it.
export function unpackTimeline(timeline) {
  const { kinds, tick_s: tick } = timeline;
  const beside = new Set(['reduce', 'gather', 'background receive']);
  return timeline.rows.map((flat) => {
    const row = { compute: [], beside: [] };
    for (let i = 0; i + kFields <= flat.length; i += kFields) {
      const kind = kinds[flat[i]];
      const segment = { kind, micro: flat[i + 1], chunk: flat[i + 2], from: flat[i + 3] * tick,
        to: (flat[i + 3] + flat[i + 4]) * tick };
      row[beside.has(kind) ? 'beside' : 'compute'].push(segment);
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
      const share = (Math.min(s.to, from + (x + 1) / scale) - begin) * scale;
      if (share <= 0) continue;
      if (!columns.has(x)) columns.set(x, {});
      const shares = columns.get(x);
      shares[s.kind] = (shares[s.kind] ?? 0) + share;
    }
  }
  return { boxes, columns: [...columns].map(([x, shares]) => ({ x, shares })) };
}

// Of a row: seconds of each kind, and idle seconds until the end of the step.
export function sumKinds(segments) {
  const sums = {};
  for (const s of segments) sums[s.kind] = (sums[s.kind] ?? 0) + s.to - s.from;
  return sums;
}
