// The network's traffic on the placement map: how busy one step keeps what leads out of each node, rack and so on.
import { formatBytes, formatDigits, formatPercent } from './format.js';
import { kRampColours, mixColours } from './colour.js';
import { legend, make, rampLegend } from './frame.js';
import { domainOf } from './layout.js';

// From hardly used to busiest: far apart, on white and on black.
const kBusy = ['#e6c229', '#e0701a', '#b3123f'];
const kLeastScale = 0.1;  // little traffic looks like little

// {most, devices, domains: [by level]}: what leaves devices, and domains of each level; null where nothing is
// known. `most` is the end of the scale: the busiest of all domains, or more where none is busy.
export function uplinkLoads(data) {
  const list = data.traffic?.domains ?? [];
  if (list.length === 0) return null;
  const domains = data.levels.map((_, l) => list.find((one) => one.level === l + 1) ?? null);
  const devices = list.find((one) => one.level === 0) ?? null;
  const most = Math.max(kLeastScale, ...domains.filter((one) => one !== null).map((one) => Math.max(...one.busy)));
  return { devices, domains, most, any: domains.some((one) => one !== null) };
}

// How to draw the border of a domain: {colour, width, text}; null where nothing leaves it.
export function borderOf(loads, level, domain, theme) {
  const busy = loads.domains[level]?.busy[domain] ?? 0;
  if (!(busy > 0)) return null;
  const share = Math.min(1, busy / loads.most);
  return { colour: busyColour(share, theme), width: 1 + 3 * share, text: formatPercent(busy) };
}

// Of a border whose links are busy to a share of the busiest.
export function busyColour(share, theme) {
  const stops = [theme.line, ...kBusy];
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return mixColours(stops[i], stops[i + 1], at - i);
}

// A line for the device and one for each domain around it that sends anything.
export function describeLoads(loads, data, layout, device) {
  const say = (what, load, i) => (load && load.bytes[i] > 0
    ? [`${what} sends ${formatBytes(load.bytes[i])} a step: links ${formatPercent(load.busy[i])} busy`] : []);
  return [...say('it', loads.devices, device), ...data.levels.flatMap((level, l) => {
    const d = domainOf(layout.levels[l], device);
    return say(`${level.name} ${d}`, loads.domains[l], d);
  })];
}

// What the colours of devices mean, and those of borders where `loads` are shown. Where there is little room, a scale
// has to do for more than a few colours.
export function mapLegend(data, chosen, loads, theme, narrow) {
  const idle = data.placement.used < data.cluster.devices ? [{ label: 'idle', colour: theme.idle }] : [];
  const [from, to] = chosen.ends ?? [`${chosen.label} 0`, formatDigits(chosen.count - 1)];
  const parts = chosen.count <= (narrow ? 8 : 16)
    ? [legend([...chosen.colours.map((colour, i) => ({ label: `${chosen.label} ${i}`, colour })), ...idle])]
    : [rampLegend(from, chosen.count <= 64 ? chosen.colours : kRampColours, to), ...(idle.length > 0 ? [legend(idle)] : [])];
  if (loads?.any) {
    const borders = Array.from({ length: 7 }, (_, i) => busyColour(i / 6, theme));
    parts.push(rampLegend(narrow ? 'border: links out busy 0 %' : 'border: links out of it busy 0 %', borders, formatPercent(loads.most)));
  }
  return make('div', { class: 'nest-legends' }, ...parts);
}
