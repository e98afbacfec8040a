// What each device does in the plan, and what devices can be coloured by. No drawing here.
import { formatDigits, formatMemory, formatPercent, spellIds } from './format.js';
import { colourList, rampColour } from './colour.js';
import { domainOf } from './layout.js';

// What a plan uses of a device; what the device keeps for itself is apart from it.
export function usedBytes(memory) {
  return memory.total_bytes - memory.reserve_bytes;
}

// What each device does: stage, copy and number in its cell; -1 where it is idle.
export function deviceRoles(data) {
  const count = data.cluster.devices;
  const make = () => new Int32Array(count).fill(-1);
  const roles = { count, stage: make(), copy: make(), rank: make() };
  data.placement.stages.forEach((stage, s) => {
    const put = (device, copy, rank) => {
      roles.stage[device] = s;
      roles.copy[device] = copy;
      roles.rank[device] = rank;
    };
    if (stage.starts) {
      stage.starts.forEach((start, copy) => {
        for (let j = 0; j < stage.cell; ++j) put(start + j, copy, j);
      });
    } else {
      stage.devices.forEach((device, i) => put(device, Math.floor(i / stage.cell), i % stage.cell));
    }
  });
  return roles;
}

// A device's number along each axis of its cell: id j = tensor + t * (context + c * side), and for experts
// expert_tensor + x * (expert + e * rest).
export function cellCoordinates(strategy, rank) {
  const t = strategy.tensor ?? 1;
  const c = strategy.context ?? 1;
  const e = strategy.expert ?? 1;
  const x = strategy.expert_tensor ?? t;
  return { tensor: rank % t, context: Math.floor(rank / t) % c, side: Math.floor(rank / (t * c)),
    expert: Math.floor(rank / x) % e };
}

// What devices can be coloured by: {key, label, count, of(device), name(value)}; `of` gives -1 for idle ones.
export function colourings(data, roles) {
  const stages = data.stages;
  const of = (key) => (device) => {
    const s = roles.stage[device];
    return s < 0 ? -1 : cellCoordinates(stages[s].strategy, roles.rank[device])[key];
  };
  const most = (key) => Math.max(...stages.map((s) => s.strategy[key] ?? 1));
  const copies = 1 + roles.copy.reduce((a, b) => Math.max(a, b), 0);
  const list = [
    { key: 'stage', label: 'stage', count: stages.length, of: (d) => roles.stage[d] },
    { key: 'copy', label: 'copy', count: copies, of: (d) => roles.copy[d] },
  ];
  for (const key of ['tensor', 'context', 'expert']) {
    if (most(key) > 1) list.push({ key, label: `${key} rank`, count: most(key), of: of(key) });
  }
  if (stages.every((s) => s.memory)) {
    const share = stages.map((s) => s.memory.total_bytes / s.memory.capacity_bytes);
    list.push({ key: 'memory', label: 'memory', count: 101, ends: ['0 %', '100 %'],
      of: (d) => (roles.stage[d] < 0 ? -1 : Math.round(100 * Math.min(1, share[roles.stage[d]]))) });
  }
  const sent = data.traffic?.domains?.find((one) => one.level === 0)?.busy;
  const busiest = sent ? Math.max(...sent) : 0;
  if (busiest > 0) {
    list.push({ key: 'traffic', label: 'links of the device', count: 101, ends: ['0 %', formatPercent(busiest)],
      of: (d) => (roles.stage[d] < 0 ? -1 : Math.round((100 * sent[d]) / busiest)) });
  }
  for (const c of list) {
    c.colours = c.ends ? Array.from({ length: 101 }, (_, i) => rampColour(i / 100)) : colourList(c.count);
  }
  return list;
}

// How many devices of each value a run of devices has: [[value, count], ..], the value -1 last.
export function countValues(coloring, first, end) {
  const counts = new Map();
  for (let d = first; d < end; ++d) {
    const value = coloring.of(d);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => (a[0] < 0) - (b[0] < 0) || a[0] - b[0]);
}

export function describeDevice(data, roles, layout, device) {
  const lines = [`device ${formatDigits(device)}`];
  lines.push(data.levels.map((level, l) => ({ level, d: domainOf(layout.levels[l], device) }))
    .filter(({ level }) => level.domains > 1).map(({ level, d }) => `${level.name} ${formatDigits(d)}`).join(', ') ||
    data.cluster.name);
  const s = roles.stage[device];
  if (s < 0) return [...lines, 'idle'];
  const stage = data.stages[s];
  const at = cellCoordinates(stage.strategy, roles.rank[device]);
  lines.push(`stage ${s}, copy ${formatDigits(roles.copy[device])}`);
  const ranks = ['tensor', 'context', 'expert'].filter((key) => (stage.strategy[key] ?? 1) > 1)
    .map((key) => `${key} rank ${at[key]} of ${stage.strategy[key]}`);
  if (ranks.length > 0) lines.push(ranks.join(', '));
  lines.push(`layers ${spellIds(stage.layers)}`);
  if (stage.memory) {
    lines.push(`uses ${formatMemory(usedBytes(stage.memory))}, with the reserve ` +
      `${formatPercent(stage.memory.total_bytes / stage.memory.capacity_bytes)} of its memory`);
  }
  return lines;
}
