// Where devices lie in the placement map. No drawing here: numbers only.

// Room between the children of a domain of a level, and inside its border, in widths of a device.
export const kGaps = [0.14, 0.6, 1.3, 2.4, 4];
const kLabelRoom = [0.5, 0.9, 1.6, 2.6, 4];

function ofLevel(list, level) {
  return list[Math.min(level, list.length - 1)];
}

function childCount(level, domain) {
  return level.sizes ? level.sizes[domain] : level.size;
}

// Columns for `count` boxes of w x h such that all together are about `aspect` times as wide as high; full
// rows are worth some stretch.
export function chooseColumns(count, w, h, aspect) {
  let [best, least] = [1, Infinity];
  for (let columns = 1; columns <= count; ++columns) {
    const rows = Math.ceil(count / columns);
    const ragged = rows * columns > count ? 0.3 + (4 * (rows * columns - count)) / count : 0;
    const cost = Math.abs(Math.log((columns * w) / (rows * h) / aspect)) + ragged;
    if (cost < least - 1e-9) [best, least] = [columns, cost];
  }
  return best;
}

// Columns of a grid's plane, and how many boxes a plane has; planes of a cube lie side by side.
function gridOf(level, count, w, h, aspect) {
  const dims = level.dims ?? [];
  const fits = dims.length > 1 && dims.reduce((a, b) => a * b, 1) === count;
  if (!fits) return { columns: chooseColumns(count, w, h, aspect), plane: count, planes: 1 };
  const plane = dims[0] * dims[1];
  return { columns: dims[0], plane, planes: chooseColumns(count / plane, dims[0] * w, dims[1] * h, aspect) };
}

// Places every device: {x, y (of devices, 1 wide), width, height, levels: [{x, y, first, w, h}]}, where level l
// lists its domains' corners and first devices. `aspect`: width over height that is aimed at; `unit`: about how
// many pixels a device will have, so that large ones do not come with large gaps.
export function layoutDevices(levels, aspect, unit = 1) {
  const boxes = [];
  const outermost = levels.findLastIndex((level) => level.sizes || level.size > 1);
  let [w, h] = [1, 1];
  let domains = 0;
  levels.forEach((level, l) => {
    domains = level.domains;
    const most = level.sizes ? Math.max(...level.sizes) : level.size;
    const grid = gridOf(level, most, w, h, l === outermost ? aspect : 1.5);
    const gap = most > 1 ? Math.min(ofLevel(kGaps, l), (6 + 8 * l) / unit) : 0;
    const border = most > 1 ? gap / 2 + Math.min(0.15, 6 / unit) : 0;
    const head = most > 1 ? Math.min(ofLevel(kLabelRoom, l), 17 / unit) : 0;
    const rows = Math.ceil(grid.plane / grid.columns);
    const planeCount = Math.ceil(most / grid.plane);
    const down = Math.ceil(planeCount / grid.planes);
    const [pw, ph] = [grid.columns * (w + gap) + gap, rows * (h + gap) + gap];
    const box = { ...grid, gap, border, head, childW: w, childH: h, pw, ph };
    w = 2 * border + grid.planes * pw - 2 * gap;
    h = 2 * border + head + down * ph - 2 * gap;
    boxes.push({ ...box, w, h });
  });
  const out = { width: w, height: h, levels: [], x: null, y: null };
  let [xs, ys] = [new Float32Array(domains || 1), new Float32Array(domains || 1)];
  for (let l = levels.length - 1; l >= 0; --l) {
    const [box, level] = [boxes[l], levels[l]];
    const own = { x: xs, y: ys, first: null, w: box.w, h: box.h, head: box.head };
    out.levels[l] = own;
    const counts = Array.from({ length: xs.length }, (_, d) => childCount(level, d));
    const total = counts.reduce((a, b) => a + b, 0);
    const [cx, cy] = [new Float32Array(total), new Float32Array(total)];
    own.child = new Int32Array(xs.length + 1);
    let next = 0;
    counts.forEach((count, d) => {
      for (let i = 0; i < count; ++i) {
        const plane = Math.floor(i / box.plane);
        const inPlane = i % box.plane;
        cx[next + i] = xs[d] + box.border + (plane % box.planes) * box.pw + (inPlane % box.columns) * (box.childW + box.gap);
        cy[next + i] = ys[d] + box.border + box.head + Math.floor(plane / box.planes) * box.ph +
          Math.floor(inPlane / box.columns) * (box.childH + box.gap);
      }
      next += count;
      own.child[d + 1] = next;
    });
    [xs, ys] = [cx, cy];
  }
  out.x = xs;
  out.y = ys;
  findFirstDevices(out.levels);
  return out;
}

// first[d] .. first[d + 1] are the devices of domain d.
function findFirstDevices(levels) {
  levels.forEach((level, l) => {
    level.first = l === 0 ? level.child : level.child.map((child) => levels[l - 1].first[child]);
  });
}

// Which domain of a level holds a device.
export function domainOf(level, device) {
  let [low, high] = [0, level.first.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (level.first[middle] <= device) low = middle;
    else high = middle;
  }
  return low;
}
