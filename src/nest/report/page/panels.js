// What is best read as text: other plans, stages, and the inputs.
import { formatChange, formatDigits, formatMemory, formatPercent, formatSeconds, spellIds, spellRecompute } from './format.js';
import { make, mount } from './frame.js';
import { usedBytes } from './devices.js';

// Degrees in the table: [key, heading, value that goes without saying].
const kDegrees = [['tensor', 'tensor', 1], ['context', 'context', 1], ['expert', 'expert', 1],
  ['pipeline', 'pipeline', null], ['interleave', 'chunks', 1], ['data', 'data', null], ['zero', 'ZeRO', 0]];
const kMostStageRows = 24;

export function tableOf(headings, rows, caption) {
  // Lists break between their parts alone.
  const parts = (text) => text.split(', ').flatMap((part, i) => [i > 0 ? ', ' : null, make('span', { class: 'nest-whole' }, part)]);
  const cells = (tag, list) => list.map((cell) => make(tag, { class: cell.number ? 'nest-number' : cell.wraps ? 'nest-wraps' : null,
    scope: tag === 'th' ? 'col' : null }, ...(cell.wraps ? parts(cell.text) : [cell.text])));
  return make('div', { class: 'nest-scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    make('table', { class: 'nest-table' },
      make('thead', {}, make('tr', {}, ...cells('th', headings))),
      make('tbody', {}, ...rows.map((row) => make('tr', { class: row.strong ? 'nest-strong' : null,
        'aria-current': row.current ? 'true' : null, onclick: row.press ?? (() => {}) }, ...cells('td', row.cells))))));
}

function textView(element, build) {
  return mount(element, (frame) => {
    const body = make('div');
    frame.element.append(body);
    body.replaceChildren(...build());
    return () => {};
  });
}

// The plan and the others that its file tells of: [{plan: true, ..}, ..] with the columns worth showing, and what all
// are compared with: the strict optimum, which stands right below a simpler plan that is taken in its place.
export function alternativeRows(data) {
  const p = data.parallelism;
  const devices = (p.tensor ?? 1) * (p.context ?? 1) * (p.pipeline ?? 1) * (p.data ?? 1);
  const others = data.alternatives ?? [];
  const strict = others.find((other) => other.strict);
  const own = { parallelism: p, devices, micro_batch: data.training.micro_batch, step_s: data.predicted.step_s, plan: true,
    near_tie: strict !== undefined, loses_most_by: strict?.taken_loses_most_by };
  const all = [own, ...others];
  const degrees = kDegrees.filter(([key, , usual]) => all.some((p) => (p.parallelism[key] ?? usual) !== usual));
  return { all, degrees, best: strict ?? own };
}

// "within 0.2 %": how far a simpler plan is from the strict optimum; empty where none stands in its place.
export function withinBest(data) {
  const strict = (data.alternatives ?? []).find((other) => other.strict);
  if (!strict) return '';
  return `within ${Math.max(0.1, Math.ceil(1000 * (data.predicted.step_s / strict.step_s - 1) - 1e-6) / 10)} %`;
}

// "best", "2", "3": what row `which` of the others is called.
export function otherName(others, which) {
  const first = others.some((other) => other.strict) ? 1 : 2;
  return others[which]?.strict ? 'best' : `${which + first}`;
}

function explainTies(all, best) {
  const near = all.filter((p) => p.near_tie && p !== best);
  if (near.length === 0) return [];
  return [make('p', { class: 'nest-hint' }, `Near ties take longer than the best plan by less than predictions err: which of them is the fastest, only a run can tell.${
    best.plan ? '' : ' The first row is the plan that is taken, which is the simplest of them.'}`)];
}

// Rows can be opened where `options.onOpen(i)` says what that does: i counts from 0, the plan itself is null.
export function alternativesTable(element, data, options = {}) {
  return textView(element, () => {
    const others = data.alternatives ?? [];
    if (!data.predicted || others.length === 0) {
      const why = options.searching ? 'Searching for the plans that come next ...'
        : options.onOpen ? 'No other plan was found.' : 'The plan file tells of no other plans; files that nest plan -o writes do.';
      return [make('p', { class: 'nest-quiet' }, why)];
    }
    const { all, degrees, best } = alternativeRows(data);
    const number = (text) => ({ text, number: true });
    const ties = all.some((p) => p.near_tie && p !== best);
    const devices = all.some((p) => p.devices !== undefined && p.devices !== all[0].devices);
    const headings = [{ text: '' }, number('step'), number('longer by'), ...(ties ? [{ text: '' }] : []), ...(devices ? [number('devices')] : []),
      ...degrees.map(([, heading]) => number(heading)), number('micro-batch'), { text: 'recomputation' }, { text: 'loses most by' }];
    const rows = all.map((p, i) => {
      const loss = p.loses_most_by;
      const which = p.plan ? null : i - 1;
      const press = options.onOpen && (() => options.onOpen(which));
      const name = p.plan ? (best.plan ? 'best' : 'taken') : otherName(others, which);
      const opened = options.onOpen && (options.opened ?? null) === which;
      const first = press ? make('button', { type: 'button', class: 'nest-button', title: 'show this plan in full',
        'aria-label': `show plan ${name} in full` }, name) : name;
      return { strong: options.onOpen ? opened : p.plan, current: opened, press, cells: [{ text: first }, number(formatSeconds(p.step_s)),
        number(p === best ? '' : formatChange(p.step_s / best.step_s - 1)),
        ...(ties ? [{ text: p.near_tie && p !== best ? make('span', { class: 'nest-tag' }, 'near tie') : '' }] : []),
        ...(devices ? [number(p.devices === undefined ? '' : formatDigits(p.devices))] : []),
        ...degrees.map(([key, , usual]) => number(`${p.parallelism[key] ?? usual ?? ''}`)), number(`${p.micro_batch}`),
        { text: p.parallelism.recompute ?? '' },
        { text: loss && p !== best ? `${loss.name}: ${formatSeconds(loss.change_s)}` : '' }] };
    });
    return [tableOf(headings, rows, 'this plan and others'), ...explainTies(all, best)];
  });
}

// Every stage in a line.
export function stagesTable(element, data) {
  return textView(element, () => {
    const number = (text) => ({ text, number: true });
    const headings = [number('stage'), { text: 'layers' }, number('number'),
      { text: 'recomputation' }, number('a micro-batch'), number('memory in use'), number('with the reserve'), { text: 'devices of copy 0' }];
    const rows = data.stages.map((stage, i) => {
      const place = data.placement.stages[i];
      const cell = place.starts
        ? `${place.starts[0]}${place.cell > 1 ? `-${place.starts[0] + place.cell - 1}` : ''}`
        : spellIds(place.devices.slice(0, place.cell));
      return { cells: [number(`${i}`), { text: spellIds(stage.layers), wraps: true }, number(`${stage.layers.length}`),
        { text: spellRecompute(stage.recompute) }, number(stage.time ? formatSeconds(stage.time.total_s) : ''),
        number(stage.memory ? formatMemory(usedBytes(stage.memory)) : ''),
        number(stage.memory ? formatPercent(stage.memory.total_bytes / stage.memory.capacity_bytes) : ''),
        { text: cell, wraps: true }] };
    });
    const table = tableOf(headings, rows, 'stages');
    if (rows.length <= kMostStageRows) return [table];
    return [make('details', {}, make('summary', {}, `${formatDigits(rows.length)} stages`), table)];
  });
}

// Model, cluster and recipe as they went in.
export function inputsPanel(element, data) {
  return textView(element, () => ['model', 'cluster', 'recipe'].filter((key) => data.inputs?.[key] !== undefined)
    .map((key) => {
      const input = data.inputs[key];
      const named = typeof input === 'string' ? input : input?.name ?? input?.framework ?? '';
      const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
      return make('details', {}, make('summary', {}, named ? `${key}: ${named}` : key),
        make('pre', { class: 'nest-scroll', tabindex: '0', 'aria-label': key }, text));
    }));
}
