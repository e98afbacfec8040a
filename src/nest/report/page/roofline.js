// The roofline of a layer: FLOPs of each operator for each byte of memory against the rate that it reaches, below
// the roof that bandwidth and peak make. Operators without products have no place there: the table has them all.
import { formatBytes, formatDigits, formatPercent, formatScaled, formatSeconds, threeDigits } from './format.js';
import { kPartColours } from './colour.js';
import { legend, make, makeSvg, mount, textWidth } from './frame.js';
import { listenRow } from './bars.js';
import { tableOf } from './panels.js';

const kRoofHeight = 300;
const kRoofBelow = 40;

// {name, pass, flops, bytes, time, intensity, rate, roof, reached, share}: of both passes of every operator.
export function rooflinePoints(roofline, layer) {
  const total = layer.operators.reduce((sum, op) => sum + op.forward_s + op.backward_s, 0) || 1;
  const points = [];
  for (const op of layer.operators) {
    const back = op.forward_flops > 0 ? op.backward_flops / op.forward_flops : 2;  // forward passes that it is worth
    for (const [pass, times] of [['forward', 1], ['backward', back]]) {
      const time = op[`${pass}_s`];
      if (!(time > 0)) continue;
      const [flops, bytes] = [times * op.forward_flops, times * op.forward_bytes];
      const peak = op.low ? roofline.peak_flops_per_s : roofline.plain_peak_flops_per_s;
      const intensity = bytes > 0 ? flops / bytes : 0;
      const roof = Math.min(peak, intensity * roofline.bandwidth_bytes_per_s);
      const rate = flops / time;
      // What a backward pass without products moves is not known.
      const moves = pass === 'forward' ? bytes / time / roofline.bandwidth_bytes_per_s : null;
      const reached = flops > 0 ? rate / roof : moves;
      points.push({ name: op.name, kind: op.kind, pass, flops, bytes, time, intensity, rate, roof, reached,
        memory: intensity * roofline.bandwidth_bytes_per_s < peak, share: time / total });
    }
  }
  return points;
}

// Whole decades around all values.
function decades(values) {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
}

// Guides of a logarithmic axis: powers of ten, every other one or fewer where they are many, and 2 and 5 times them
// where they are few and `room`, in pixels for a decade, has place for them.
export function logTicks(from, to, room, text) {
  const every = Math.max(1, Math.ceil(text / room));
  const between = room > 4 * text ? [1, 2, 5] : [1];
  const ticks = [];
  for (let d = from; d <= to; d += every) {
    for (const first of between) if (d < to || first === 1) ticks.push(first * 10 ** d);
  }
  return ticks;
}

function scaleOf(roofline, points) {
  const ridge = roofline.peak_flops_per_s / roofline.bandwidth_bytes_per_s;
  const x = decades([...points.map((p) => p.intensity), ridge / 10, ridge * 2]);
  const y = decades([...points.map((p) => p.rate), roofline.peak_flops_per_s * 1.01]);
  return { x, y };
}

function drawRoof(frame, roofline, points) {
  const { theme, width } = frame;
  const { x: [x0, x1], y: [y0, y1] } = scaleOf(roofline, points);
  const rates = logTicks(y0, y1, (kRoofHeight - 12) / (y1 - y0), 18).map((rate) => [rate, formatScaled(rate, 'FLOP/s')]);
  const left = 12 + Math.max(...rates.map(([, text]) => textWidth(text)));
  const px = (v) => left + ((Math.log10(v) - x0) / (x1 - x0)) * (width - left - 12);
  const py = (v) => kRoofHeight - ((Math.log10(v) - y0) / (y1 - y0)) * (kRoofHeight - 12);
  const height = kRoofHeight + kRoofBelow;
  const svg = makeSvg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'list', class: 'nest-svg',
    'aria-label': 'operators under the roof of the accelerator' });
  const say = (x, y, words, more = {}) => makeSvg('text', { x, y, fill: theme.quiet, ...more }, words);
  const line = (x1_, y1_, x2, y2, more) => makeSvg('line', { x1: x1_, y1: y1_, x2, y2, stroke: theme.grid, ...more });
  for (const tick of logTicks(x0, x1, (width - left - 12) / (x1 - x0), 50)) {
    svg.append(line(px(tick), 8, px(tick), kRoofHeight), say(px(tick), kRoofHeight + 16, tick < 1 ? `${Number(tick.toPrecision(1))}` : formatDigits(tick),
      { 'text-anchor': tick >= 10 ** x1 ? 'end' : 'middle' }));
  }
  for (const [rate, text] of rates) {
    svg.append(line(left, py(rate), width - 12, py(rate)), say(left - 6, py(rate) + 4, text, { 'text-anchor': 'end' }));
  }
  svg.append(say((left + width) / 2, kRoofHeight + 34, 'FLOP for each byte of memory', { 'text-anchor': 'middle' }));
  const roof = (peak, bandwidth, more) => {
    const ridge = peak / bandwidth;
    const from = Math.max(10 ** x0, 10 ** y0 / bandwidth);
    return makeSvg('polyline', { fill: 'none', stroke: theme.ink, 'stroke-width': 1.6, ...more, points: [
      [px(from), py(from * bandwidth)], [px(ridge), py(peak)], [px(10 ** x1), py(peak)]].map((p) => p.join()).join(' ') });
  };
  svg.append(roof(roofline.peak_flops_per_s, roofline.bandwidth_bytes_per_s),
    roof(roofline.reached_flops_per_s, roofline.reached_bytes_per_s, { 'stroke-dasharray': '5 4', stroke: theme.quiet }));
  const taken = [];
  const free = (box) => box.x + box.w < width && taken.every((t) => box.x > t.x + t.w || t.x > box.x + box.w ||
    box.y > t.y + t.h || t.y > box.y + box.h);
  const placed = points.map((p) => ({ ...p, x: px(p.intensity), y: py(p.rate), r: 4 + 14 * Math.sqrt(p.share) }));
  for (const p of placed) taken.push({ x: p.x - p.r, y: p.y - p.r, w: 2 * p.r, h: 2 * p.r });
  for (const p of [...placed].sort((a, b) => b.share - a.share)) {
    const colour = kPartColours[p.pass];
    const group = makeSvg('g', { role: 'listitem', class: 'nest-row', tabindex: svg.querySelector('.nest-row') ? '-1' : '0' });
    const tip = describePoint(p);
    group.setAttribute('aria-label', tip.join('; '));
    group.append(makeSvg('circle', { cx: p.x, cy: p.y, r: p.r, fill: colour, 'fill-opacity': 0.55, stroke: colour,
      'stroke-width': 1.5, class: 'nest-band' }));
    const box = [[p.x + p.r + 4, p.y - 6], [p.x - p.r - 4 - textWidth(p.name), p.y - 6], [p.x - textWidth(p.name) / 2, p.y + p.r + 2],
      [p.x - textWidth(p.name) / 2, p.y - p.r - 15]].map(([x, y]) => ({ x, y, w: textWidth(p.name), h: 13 }))
      .find((b) => b.x > left && b.y > 0 && free(b));
    const named = placed.some((other) => other.named && other.name === p.name);
    if (box && !named) {
      p.named = true;
      taken.push(box);
      group.append(say(box.x, box.y + 11, p.name, { fill: theme.ink }));
    }
    listenRow(frame, svg, group, { tip });
    svg.append(group);
  }
  return svg;
}

function describePoint(p) {
  return [`${p.name}, ${p.pass}`, `${formatSeconds(p.time)}, ${formatPercent(p.share)} of the layer`,
    ...(p.flops > 0 ? [`${formatScaled(p.flops, 'FLOP')}, ${threeDigits(p.intensity)} for each byte`,
      `${formatScaled(p.rate, 'FLOP/s')}: ${formatPercent(p.reached)} of what ${p.memory ? 'memory bandwidth' : 'the peak'} allows`]
      : p.reached === null ? [] : [`${formatBytes(p.bytes)} at ${formatBytes(p.bytes / p.time)}/s: ${formatPercent(p.reached)} of the bandwidth`])];
}

function pointsTable(points) {
  const number = (text) => ({ text, number: true });
  const headings = [{ text: 'operator' }, { text: 'pass' }, number('time'), number('of the layer'), number('FLOP/byte'), number('reaches'),
    number('of its roof'), { text: 'limited by' }];
  const rows = [...points].sort((a, b) => b.time - a.time).map((p) => ({ cells: [{ text: p.name }, { text: p.pass },
    number(formatSeconds(p.time)), number(formatPercent(p.share)), number(p.flops > 0 ? threeDigits(p.intensity) : '-'),
    number(p.reached === null ? '-' : p.flops > 0 ? formatScaled(p.rate, 'FLOP/s') : `${formatBytes(p.bytes / p.time)}/s`),
    number(p.reached === null ? '-' : formatPercent(p.reached)),
    { text: p.flops > 0 && !p.memory ? 'peak' : 'memory' }] }));
  return tableOf(headings, rows, 'operators of the layer');
}

// The layer that takes longest in all is shown first.
export function rooflineChart(element, data) {
  return mount(element, (frame) => {
    const { roofline } = data;
    if (!roofline || roofline.layers.length === 0) {
      frame.element.append(make('p', { class: 'nest-quiet' }, 'A layer profile tells nothing of operators.'));
      return () => {};
    }
    const { layers } = roofline;
    const weight = (layer) => layer.count * layer.operators.reduce((sum, op) => sum + op.forward_s + op.backward_s, 0);
    let chosen = layers.reduce((best, layer) => (weight(layer) > weight(best) ? layer : best));
    const body = make('div');
    const select = make('select', { 'aria-label': 'layer', onchange: () => {
      chosen = layers[select.selectedIndex];
      frame.redraw();
    } }, ...layers.map((layer) => make('option', {}, layer.count > 1 ? `${layer.name} (${layer.count} of them)` : layer.name)));
    select.selectedIndex = layers.indexOf(chosen);
    frame.element.append(make('div', { class: 'nest-tools' }, make('label', {}, 'Layer ', select),
      legend([{ label: 'forward', colour: kPartColours.forward }, { label: 'backward', colour: kPartColours.backward }])), body);
    return () => {
      const points = rooflinePoints(roofline, chosen);
      const products = points.filter((p) => p.flops > 0 && p.bytes > 0);
      body.replaceChildren(
        ...(products.length > 0 ? [drawRoof(frame, roofline, products)] : [make('p', {}, 'This layer has no products.')]),
        make('p', { class: 'nest-hint' }, `Solid: ${roofline.precision} peak of ${formatScaled(roofline.peak_flops_per_s, 'FLOP/s')} and ` +
          `${formatScaled(roofline.bandwidth_bytes_per_s, 'B/s')} of memory; dashed: what kernels reach of both. Larger circles take longer. ` +
          `One device, one micro-batch of ${roofline.micro_batch}.`),
        make('h3', { class: 'nest-small-heading' }, `Operators of one layer '${chosen.name}'`), pointsTable(points));
    };
  });
}
