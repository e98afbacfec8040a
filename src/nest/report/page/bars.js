// Bars: memory against capacity, parts of the step, traffic of each level, and what would change the step.
import { formatBytes, formatChange, formatMemory, formatPercent, formatSeconds, spellIds, spellRecompute } from './format.js';
import { inkOn, kPartColours } from './colour.js';
import { legend, make, makeSvg, mount, textWidth } from './frame.js';
import { usedBytes } from './devices.js';

const kMemoryParts = ['weights', 'gradients', 'optimizer', 'activations', 'workspace', 'fragmentation'];
const kStepParts = ['compute', 'recompute', 'tensor', 'expert', 'context', 'pipeline', 'bubble', 'data', 'zero',
  'optimizer', 'offload'];
const kPassParts = ['forward', 'backward', 'recompute', 'tensor', 'expert', 'context', 'pipeline', 'zero',
  'offload'];
const kTrafficParts = [
  ['tensor', 'tensor groups', '#e69f00'], ['context', 'context groups', '#cc79a7'],
  ['expert', 'expert groups', '#d55e00'], ['pipeline', 'between stages', '#56b4e9'],
  ['gradient', 'gradients', '#009e73'], ['parameter', 'parameters', '#0072b2']];

const kPartWords = {
  compute: 'compute', recompute: 'recomputation', tensor: 'tensor groups', expert: 'expert groups',
  context: 'context groups', pipeline: 'between stages', bubble: 'bubble', data: 'gradients', zero: 'ZeRO',
  optimizer: 'optimizer', offload: 'offload to the host', forward: 'forward', backward: 'backward',
};

// Named shares of a whole that are above zero, in a fixed order.
export function partsOf(numbers, names, suffix) {
  return names.map((name) => ({ name, value: numbers[`${name}${suffix}`] ?? 0 })).filter((p) => p.value > 0);
}

// Rows of stacked bars. spec: {rows: [{label, parts: [{label, value, colour}], text, tip, alarm}], most,
// mark: {value, label}, least, label, focus}. Values below zero grow to the left; parts with a place of their own
// (`from`) are no part of the stack, and `empty` ones are an outline.
export function barChart(frame, spec) {
  const width = frame.width;
  const { theme } = frame;
  const longest = (texts) => Math.max(0, ...texts.map((text) => textWidth(text)));
  const labels = longest(spec.rows.map((r) => r.label));
  const texts = longest(spec.rows.map((r) => r.text ?? ''));
  const narrow = labels + texts + 190 > width;
  const left = narrow ? 2 : labels + 10;
  const right = narrow ? 2 : texts + 10;
  const bar = spec.rows.length > 24 ? 12 : 18;
  // On narrow screens words stand above the bar, on two lines where one has no room for label and text.
  const heads = spec.rows.map((r) => (!narrow ? 0 : textWidth(r.label) + textWidth(r.text ?? '') + 12 > width ? 33 : 17));
  const pitches = heads.map((head) => bar + (narrow ? head + 5 : 7));
  const top = spec.mark ? 22 : 4;
  const height = pitches.reduce((sum, pitch) => sum + pitch, top + 2);
  const least = spec.least ?? 0;
  const span = Math.max(spec.most - least, 1e-300);
  const at = (value) => left + ((value - least) / span) * (width - left - right);

  const svg = makeSvg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'list',
    'aria-label': spec.label, class: 'nest-svg' });
  const say = (x, y, words, attributes = {}) => makeSvg('text', { x, y, fill: theme.ink, ...attributes }, words);
  let below = top;
  spec.rows.forEach((row, i) => {
    const [head, pitch] = [heads[i], pitches[i]];
    const y = below + head;
    below += pitch;
    const group = makeSvg('g', { role: 'listitem', tabindex: i === 0 ? '0' : '-1', class: 'nest-row',
      'aria-label': row.tip.join('; ') });
    group.append(makeSvg('rect', { x: 0, y: y - (narrow ? head : 3), width, height: pitch, fill: 'transparent',
      class: 'nest-band' }));
    group.append(narrow ? say(left, y - head + 13, row.label) : say(left - 10, y + bar - 4, row.label, { 'text-anchor': 'end' }));
    let up = Math.max(0, least);
    let down = 0;
    for (const part of row.parts) {
      const [from, to] = part.from !== undefined ? [part.from, part.from + part.value]
        : part.value >= 0 ? [up, up += part.value] : [down += part.value, down - part.value];
      const [x, end] = [at(from), at(to)];
      const inset = part.empty ? 0.5 : 0;
      group.append(makeSvg('rect', { x: x + inset, y: y + inset, width: Math.max(0.5, end - x - (end - x > 3 ? 1 : 0) - 2 * inset),
        height: bar - 2 * inset, fill: part.empty ? 'none' : part.colour, stroke: part.empty ? theme.ink : null,
        'stroke-dasharray': part.empty ? '2 2' : null }));
      if (part.inside && end - x > textWidth(part.inside) + 8) {
        group.append(say((x + end) / 2, y + bar - 5, part.inside, { 'text-anchor': 'middle',
          fill: inkOn(part.colour) }));
      }
    }
    const upright = (value, attributes) => makeSvg('line', { x1: at(value), x2: at(value), y1: y - (narrow ? 2 : 7),
      y2: y + bar + 2, ...attributes });
    if (least < 0) group.append(upright(0, { stroke: theme.line }));
    if (spec.mark) {
      group.append(upright(spec.mark.value, { stroke: theme.ink, 'stroke-width': 1.5, 'stroke-dasharray': '4 3' }));
    }
    const colour = row.alarm ? (theme.dark ? '#ff9e80' : '#b3261e') : theme.ink;
    group.append(say(narrow ? width - 2 : width - right + 10, narrow ? y - 4 : y + bar - 4, row.text ?? '',
      { 'text-anchor': narrow ? 'end' : 'start', fill: colour }));
    listenRow(frame, svg, group, row);
    svg.append(group);
  });
  if (spec.mark) {
    const x = at(spec.mark.value);
    const room = textWidth(spec.mark.label);
    svg.append(say(Math.min(x, width - 2), 12, spec.mark.label, { 'text-anchor': x > room ? 'end' : 'start' }));
  }
  return svg;
}

// Tooltips by pointer and by keyboard; arrows go from row to row.
export function listenRow(frame, svg, group, row) {
  group.addEventListener('pointermove', (event) => frame.tip.show(row.tip, event.clientX, event.clientY));
  group.addEventListener('pointerleave', () => frame.tip.hide());
  group.addEventListener('focus', () => {
    const box = group.getBoundingClientRect();
    if (group.matches(':focus-visible')) frame.tip.show(row.tip, box.left + box.width / 2, box.bottom - 8);
  });
  group.addEventListener('blur', () => frame.tip.hide());
  group.addEventListener('keydown', (event) => {
    const rows = [...svg.querySelectorAll('.nest-row')];
    const to = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key];
    if (event.key === 'Escape') frame.tip.hide();
    if (to === undefined) return;
    const next = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(group) + to))];
    group.setAttribute('tabindex', '-1');
    next.setAttribute('tabindex', '0');
    next.focus();
    event.preventDefault();
  });
}

export function chartView(element, build) {
  return mount(element, (frame) => {
    const body = make('div');
    frame.element.append(body);
    return () => body.replaceChildren(...build(frame));
  });
}

// Where the reserve and the margin lie apart from what is used: at the end of what the device has. Where too much is
// used they come after it, and the margin is what is left of it.
export function memoryApart(memory) {
  const margin = memory.margin_bytes ?? 0;
  const reserve = Math.max(usedBytes(memory), memory.capacity_bytes - margin - memory.reserve_bytes);
  const free = reserve + memory.reserve_bytes;
  return { reserve: { from: reserve, value: memory.reserve_bytes },
    margin: { from: free, value: Math.max(0, Math.min(margin, memory.capacity_bytes - free)) } };
}

// Stages one below the other, what they use in parts, against what a device has.
export function memoryBars(element, data) {
  return chartView(element, (frame) => {
    const stages = data.stages.filter((s) => s.memory);
    if (stages.length === 0) return [make('p', {}, 'The plan has no memory figures.')];
    const capacity = Math.max(...stages.map((s) => s.memory.capacity_bytes));
    const most = Math.max(capacity, ...stages.map((s) => s.memory.total_bytes)) * 1.005;
    const names = kMemoryParts.filter((name) => stages.some((s) => s.memory[`${name}_bytes`] > 0));
    const rows = stages.map((stage, i) => {
      const { memory } = stage;
      const parts = partsOf(memory, names, '_bytes');
      const over = memory.total_bytes > memory.capacity_bytes;
      const peak = data.simulated?.stages?.[i]?.peak_bytes;
      const { reserve, margin } = memoryApart(memory);
      const apart = [{ ...reserve, colour: kPartColours.reserve }, { ...margin, empty: true }].filter((p) => p.value > 0);
      return {
        label: `stage ${i}`, alarm: over,
        text: `${formatMemory(usedBytes(memory))}${over ? ', too much' : ''}`,
        parts: [...parts.map((p) => ({ ...p, colour: kPartColours[p.name] })), ...apart],
        tip: [`stage ${i} uses ${formatMemory(usedBytes(memory))} of ${formatMemory(memory.capacity_bytes)}`,
          ...parts.map((p) => `${p.name} ${formatMemory(p.value)}`),
          ...(memory.reserve_bytes > 0 ? [`besides: reserve ${formatMemory(memory.reserve_bytes)}`] : []),
          ...(memory.margin_bytes > 0 ? [`margin that stays free ${formatMemory(memory.margin_bytes)}`] : []),
          ...(peak ? [`simulated peak ${formatMemory(peak - memory.reserve_bytes)}`] : []), `layers ${spellIds(stage.layers)}`],
      };
    });
    const apart = [
      ...(stages.some((s) => s.memory.reserve_bytes > 0) ? [{ label: 'reserve, outside the allocator', colour: kPartColours.reserve }] : []),
      ...(stages.some((s) => s.memory.margin_bytes > 0) ? [{ label: 'margin, kept free', empty: true }] : [])];
    return [
      legend([...names.map((name) => ({ label: name, colour: kPartColours[name] })), ...apart]),
      barChart(frame, { rows, most, mark: { value: capacity, label: `capacity ${formatMemory(capacity)}` },
        label: 'memory of a device of each stage' }),
    ];
  });
}

// The step as one bar and part by part, then what each stage does for one micro-batch.
export function timeBreakdown(element, data) {
  return chartView(element, (frame) => {
    if (!data.predicted) return [make('p', {}, 'The plan has no prediction.')];
    const step = data.predicted.step_s;
    const parts = partsOf(data.predicted.breakdown, kStepParts, '_s');
    const coloured = (p) => ({ ...p, colour: kPartColours[p.name] });
    const whole = { label: 'step', text: formatSeconds(step),
      parts: parts.map((p) => ({ ...coloured(p), inside: formatPercent(p.value / step) })),
      tip: [`step ${formatSeconds(step)}`, ...parts.map((p) => `${kPartWords[p.name]} ${formatSeconds(p.value)}`)] };
    const rows = parts.map((p) => ({ label: kPartWords[p.name], parts: [coloured(p)],
      text: `${formatSeconds(p.value)}, ${formatPercent(p.value / step)}`,
      tip: [`${kPartWords[p.name]}: ${formatSeconds(p.value)}`, `${formatPercent(p.value / step)} of the step`] }));
    const out = [barChart(frame, { rows: [whole, ...rows], most: step, label: 'parts of the step' })];
    const stages = data.stages.filter((s) => s.time);
    if (stages.length < 2) return out;
    const names = kPassParts.filter((name) => stages.some((s) => s.time[`${name}_s`] > 0));
    const most = Math.max(...stages.map((s) => s.time.total_s));
    const perStage = stages.map((stage, i) => {
      const times = partsOf(stage.time, names, '_s');
      return { label: `stage ${i}`, text: formatSeconds(stage.time.total_s), parts: times.map(coloured),
        tip: [`stage ${i}: ${formatSeconds(stage.time.total_s)} for a micro-batch`,
          ...times.map((p) => `${kPartWords[p.name]} ${formatSeconds(p.value)}`),
          `recomputation ${spellRecompute(stage.recompute)}`] };
    });
    out.push(make('h3', { class: 'nest-small-heading' }, 'One micro-batch in each stage'),
      legend(names.map((name) => ({ label: kPartWords[name], colour: kPartColours[name] }))),
      barChart(frame, { rows: perStage, most, label: 'time of each stage for one micro-batch' }));
    return out;
  });
}

// Bytes that one step moves over each level, and the links that are busiest.
export function trafficBars(element, data) {
  return chartView(element, (frame) => {
    if (!data.traffic) return [make('p', {}, 'The step was not simulated.')];
    const { links } = data.traffic;
    const levels = data.traffic.levels.map((level, i) => ({ ...level, given: data.levels[i] }))
      .filter(({ given }) => given.sizes || given.size > 1);
    const parts = kTrafficParts.filter(([key]) => levels.some((l) => l[`${key}_bytes`] > 0));
    const total = (level) => kTrafficParts.reduce((sum, [key]) => sum + (level[`${key}_bytes`] ?? 0), 0);
    const most = Math.max(...levels.map(total));
    if (!(most > 0)) return [make('p', {}, 'Nothing goes over the network.')];
    const rows = levels.map((level) => {
      const { given } = level;
      const each = total(level) / Math.max(1, data.placement.used);
      return { label: level.name, text: `${formatBytes(total(level))}, ${formatBytes(each)} a device`,
        parts: parts.map(([key, , colour]) => ({ value: level[`${key}_bytes`] ?? 0, colour })).filter((p) => p.value > 0),
        tip: [`level ${level.name}: ${formatBytes(total(level))} a step`,
          ...parts.map(([key, words]) => `${words} ${formatBytes(level[`${key}_bytes`] ?? 0)}`),
          `a device: ${formatBytes(each)}, which takes ${formatSeconds(each / given.bandwidth_bytes_per_s)} ` +
            `at ${formatBytes(given.bandwidth_bytes_per_s)}/s`] };
    });
    const out = [legend(parts.map(([, label, colour]) => ({ label, colour }))),
      barChart(frame, { rows, most, label: 'bytes over each level of the network in one step' })];
    if (data.traffic.not_counted) out.push(make('p', { class: 'nest-quiet' }, data.traffic.not_counted));
    if (links.length === 0) return out;
    const busy = links.map((link) => ({ label: link.name,
      text: `${formatPercent(link.utilisation)} of the step`, parts: [{ value: link.utilisation, colour: '#56b4e9' }],
      tip: [link.name, `${formatBytes(link.bytes)} a step, busy ${formatPercent(link.utilisation)} of it`,
        `transfers waited ${formatSeconds(link.waited_s)} for it`] }));
    out.push(make('h3', { class: 'nest-small-heading' }, 'Busiest links between stages and at the end of the step'),
      barChart(frame, { rows: busy, most: Math.max(0.1, ...links.map((l) => l.utilisation)),
        label: 'busiest links' }));
    return out;
  });
}

// By how much the step changes with one thing changed.
export function sensitivityBars(element, data) {
  return chartView(element, (frame) => {
    const effects = data.sensitivity?.effects ?? [];
    if (effects.length === 0 || !data.predicted) return [make('p', {}, 'Nothing was tried.')];
    const step = data.predicted.step_s;
    const changes = effects.map((e) => e.step_s / step - 1);
    const reach = Math.max(1e-3, ...changes.map(Math.abs));
    const rows = effects.map((effect, i) => ({
      label: effect.change,
      text: `${formatChange(changes[i])}${effect.status === 'infeasible' ? ', does not fit' : ''}`,
      alarm: effect.status === 'infeasible',
      parts: [{ value: changes[i], colour: changes[i] <= 0 ? '#009e73' : '#d55e00' }],
      tip: [effect.change, `step ${formatSeconds(effect.step_s)}, now ${formatSeconds(step)}`,
        ...(effect.reason ? [effect.reason] : [])],
    }));
    const least = Math.min(0, ...changes) < 0 ? -reach : 0;
    const most = Math.max(0, ...changes) > 0 ? reach : 0;
    const out = [barChart(frame, { rows, least: least === 0 && most === 0 ? -reach : least, most,
      label: 'change of the step with one thing changed' })];
    const binds = data.sensitivity.binds ?? [];
    if (binds.length > 0) {
      out.push(make('h3', { class: 'nest-small-heading' }, 'What binds'),
        make('ol', { class: 'nest-list' }, ...binds.map((sentence) => make('li', {}, sentence))));
    }
    return out;
  });
}
