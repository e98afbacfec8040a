// The report's page: puts the data's words into place and the views into their elements.
import { formatChange, formatDigits, formatMemory, formatPercent, formatScaled, formatSeconds } from './format.js';
import { make, redrawViews } from './frame.js';
import { placementMap } from './map.js';
import { pipelineTimeline } from './timeline.js';
import { memoryTimeline } from './memory.js';
import { rooflineChart } from './roofline.js';
import { memoryBars, sensitivityBars, timeBreakdown, trafficBars } from './bars.js';
import { alternativesTable, inputsPanel, stagesTable, withinBest } from './panels.js';
import { usedBytes } from './devices.js';

function at(id) {
  return document.getElementById(id);
}

function showSummary(data) {
  at('headline').textContent = data.headline;
  const words = data.status === 'infeasible' ? 'does not fit' : data.status === 'optimal' ? `optimal ${withinBest(data)}`.trim() : 'feasible';
  const badge = make('span', { class: data.status === 'infeasible' ? 'badge alarm' : 'badge' }, words);
  at('summary').append(make('p', {}, badge, data.degrees),
    make('p', {}, `${data.batches}; recomputation ${data.recompute}; ` +
      `${formatDigits(data.placement.used)} of ${formatDigits(data.cluster.devices)} devices`));
  if (data.reason) at('summary').append(make('p', { class: 'alarm' }, data.reason));
  if (data.proof) at('summary').append(make('p', {}, data.proof));
  if (data.simpler) at('summary').append(make('p', {}, `${data.simpler}.`));
  at('notes').append(...data.notes.map((note) => make('li', {}, note)));
}

function showFigures(data) {
  const p = data.predicted;
  const memory = data.stages.map((s) => s.memory).filter(Boolean);
  const fullest = memory.reduce((a, b) => (b.total_bytes / b.capacity_bytes > a.total_bytes / a.capacity_bytes ? b : a));
  const range = (ends, format) => `${format(ends[0])} to ${format(ends[1])}`;
  const level = p.interval ? `${Number((100 * p.interval.level).toPrecision(3))} % of runs` : '';
  const apart = [[fullest.reserve_bytes, 'reserve'], [fullest.margin_bytes, 'margin, kept free']].filter(([bytes]) => bytes > 0)
    .map(([bytes, words]) => `${formatMemory(bytes)} ${words}`);
  const figures = [['step', formatSeconds(p.step_s)], ['tokens a second', formatDigits(p.tokens_per_s)],
    ['FLOP/s of a device', formatScaled(p.flops_per_device_per_s, '')], ['MFU', formatPercent(p.mfu)],
    ['bubble', formatPercent(p.bubble_fraction)],
    ['memory in use, fullest stage', `${formatMemory(usedBytes(fullest))} of ${formatMemory(fullest.capacity_bytes)}`],
    ...(apart.length > 0 ? [['of it besides', apart.join('; ')]] : []),
    ...(p.interval ? [[`step, ${level}`, range(p.interval.step_s, formatSeconds)]] : []),
    ...(p.interval?.memory_bytes ? [[`memory with the reserve, ${level}`, range(p.interval.memory_bytes, formatMemory)]] : []),
    ...(data.fits ? [['memory', data.fits]] : [])];
  at('figures').append(...figures.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
  if (data.simulated) {
    const change = data.simulated.step_s / data.simulated.priced_s - 1;
    at('simulated').textContent = `${formatSeconds(data.simulated.step_s)} simulated, ` +
      `${formatSeconds(data.simulated.priced_s)} priced (${formatChange(change)}): ${data.simulated.cause}`;
  }
}

function showLevels(data) {
  const headings = ['level', 'kind', 'domains', 'children of each', 'bandwidth of a device', 'latency', 'oversubscription'];
  const rows = data.levels.map((l) => [l.name, l.kind, formatDigits(l.domains),
    l.sizes ? `${Math.min(...l.sizes)} to ${Math.max(...l.sizes)}` : formatDigits(l.size),
    formatScaled(l.bandwidth_bytes_per_s, 'B/s'), formatSeconds(l.latency_s), `${l.oversubscription}`]);
  at('levels').append(
    make('p', {}, `${data.cluster.name}: ${formatDigits(data.cluster.devices)} x ${data.accelerator.name} with ` +
      `${formatMemory(data.accelerator.memory_bytes)}`),
    make('div', { class: 'nest-scroll' }, make('table', { class: 'nest-table' },
      make('thead', {}, make('tr', {}, ...headings.map((h) => make('th', { scope: 'col' }, h)))),
      make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map((cell) => make('td', {}, cell))))))));
}

function listenTheme() {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const name = () => {
    at('theme').textContent = isDark() ? 'light' : 'dark';
    at('theme').setAttribute('aria-label', `show in ${isDark() ? 'light' : 'dark'} colours`);
  };
  at('theme').addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    name();
    redrawViews();
  });
  system.addEventListener('change', name);
  at('print').addEventListener('click', () => print());
  name();
}

const started = performance.now();
const data = JSON.parse(at('data').textContent);
listenTheme();
showSummary(data);
showFigures(data);
showLevels(data);
placementMap(at('map'), data);
pipelineTimeline(at('timeline'), data);
timeBreakdown(at('time'), data);
memoryBars(at('memory'), data);
memoryTimeline(at('held'), data);
rooflineChart(at('roof'), data);
trafficBars(at('traffic'), data);
sensitivityBars(at('change'), data);
alternativesTable(at('others'), data);
stagesTable(at('stages'), data);
inputsPanel(at('inputs'), data);
at('about').textContent = `NEST ${data.nest.version}; made by: ${data.command}`;
document.documentElement.dataset.drawnInMs = Math.round(performance.now() - started);
