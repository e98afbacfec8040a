// What the report's views compute before they draw. Run: node --test tests/page/
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const kFolder = new URL('../../src/nest/report/page/', import.meta.url);
const load = (name) => import(new URL(name, kFolder).href);
const format = await load('format.js');
const colour = await load('colour.js');
const layout = await load('layout.js');
const devices = await load('devices.js');
const spans = await load('spans.js');
const panels = await load('panels.js');
const bars = await load('bars.js');
const memory = await load('memory.js');
const roofline = await load('roofline.js');
const uplinks = await load('uplinks.js');
const prices = await load('prices.js');

test('numbers have three digits that count', () => {
  assert.equal(format.formatSeconds(8.594), '8.59 s');
  assert.equal(format.formatSeconds(0.2163), '216 ms');
  assert.equal(format.formatSeconds(0.9996), '1 s');
  assert.equal(format.formatSeconds(5e-6), '5 us');
  assert.equal(format.formatSeconds(0), '0 s');
  assert.equal(format.formatSeconds(12345.6), '12,346 s');
  assert.equal(format.formatBytes(5.04e15), '5.04 PB');
  assert.equal(format.formatMemory(80e9), '74.5 GiB');
  assert.equal(format.formatMemory(0), '0 KiB');
  assert.equal(format.formatPercent(0.0614), '6.1 %');
  assert.equal(format.formatPercent(0.0001), '< 0.1 %');
  assert.equal(format.formatChange(-0.079), '-7.9 %');
  assert.equal(format.formatChange(1e-9), '0 %');
  assert.equal(format.formatDigits(1024), '1,024');
});

test('ids are spelt in runs, words in their number', () => {
  assert.equal(format.spellIds([0, 1, 2, 7, 9, 10]), '0-2, 7, 9-10');
  assert.equal(format.spellIds([]), '');
  assert.equal(format.plural(1, 'stage'), '1 stage');
  assert.equal(format.plural(2000, 'micro-batch'), '2,000 micro-batches');
  assert.equal(format.spellRecompute({ policy: 'full', layers: 2 }), 'full on 2 layers');
  assert.equal(format.spellRecompute({ policy: 'modules', modules: ['mlp', 'moe_act'] }), 'modules mlp, moe_act');
  assert.equal(format.spellRecompute({ policy: 'modules', modules: ['mlp'], layers: 1 }), 'modules mlp on 1 layer');
});

test('ticks are round and inside', () => {
  assert.deepEqual(format.roundTicks(0, 1, 5).map((t) => Number(t.toFixed(6))), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(format.roundTicks(3.1, 3.9, 4).map((t) => Number(t.toFixed(6))), [3.2, 3.4, 3.6, 3.8]);
  assert.deepEqual(format.roundTicks(1, 1, 4), []);
});

test('neighbours at a time axis read differently, in one unit', () => {
  assert.deepEqual(format.tickTimes([89.45, 89.5, 89.55]), ['89.45 s', '89.50 s', '89.55 s']);
  assert.deepEqual(format.tickTimes([0, 0.2, 0.4]), ['0 ms', '200 ms', '400 ms']);
  assert.deepEqual(format.tickTimes([0, 0.5, 1]), ['0 s', '0.5 s', '1.0 s']);
  assert.deepEqual(format.tickTimes([0, 1e4, 2e4]), ['0 s', '10,000 s', '20,000 s']);
  assert.deepEqual(format.tickTimes([0.0012]), ['1.2 ms']);
  assert.deepEqual(format.tickTimes([]), []);
});

test('a logarithmic axis has guides between decades where there is room', () => {
  assert.deepEqual(roofline.logTicks(0, 2, 60, 20), [1, 10, 100]);
  assert.deepEqual(roofline.logTicks(0, 1, 300, 20), [1, 2, 5, 10]);
  assert.deepEqual(roofline.logTicks(0, 4, 20, 40), [1, 100, 1e4]);
});

test('colours of few are apart, of many along a scale, and ink on them can be read', () => {
  assert.equal(new Set(colour.colourList(8)).size, 8);
  assert.equal(new Set(colour.colourList(16)).size, 16);
  assert.equal(colour.colourList(2048).length, 2048);
  assert.deepEqual(colour.colourList(0), []);
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  for (const c of [...colour.colourList(8), ...colour.colourList(64)]) {
    assert.match(c, /^#[0-9a-f]{6}$/);
    assert.ok(contrast(colour.luminance(c), colour.luminance(colour.inkOn(c))) >= 4.5, c);
  }
  // The dark page's surface, and the light one's.
  for (const c of colour.colourList(64)) {
    assert.ok(contrast(colour.luminance(c), colour.luminance('#1b1d21')) >= 2.2, c);
    assert.ok(contrast(colour.luminance(c), 1) >= 1.2, c);
  }
  assert.equal(colour.mixColours('#000000', '#ffffff', 0.5), '#808080');
  assert.deepEqual(colour.parseColour('rgb(1, 2, 3)'), [1, 2, 3]);
});

const kLevels = [{ name: 'node', domains: 4, size: 8 }, { name: 'rack', domains: 2, size: 2 },
  { name: 'spine', domains: 1, size: 2 }];

test('devices lie apart from each other, inside their domains', () => {
  for (const unit of [1, 5, 50]) {
    const map = layout.layoutDevices(kLevels, 1.6, unit);
    assert.equal(map.x.length, 32);
    for (let a = 0; a < 32; ++a) {
      for (let b = 0; b < a; ++b) {
        assert.ok(Math.abs(map.x[a] - map.x[b]) >= 1 || Math.abs(map.y[a] - map.y[b]) >= 1, `${a} and ${b}`);
      }
      map.levels.forEach((level) => {
        const d = layout.domainOf(level, a);
        assert.ok(level.first[d] <= a && a < level.first[d + 1]);
        assert.ok(map.x[a] >= level.x[d] && map.x[a] + 1 <= level.x[d] + level.w + 1e-4);
        assert.ok(map.y[a] >= level.y[d] && map.y[a] + 1 <= level.y[d] + level.h + 1e-4);
      });
    }
  }
});

test('uneven trees and cubes are laid out too', () => {
  const uneven = layout.layoutDevices([{ domains: 3, sizes: [3, 4, 4] }, { domains: 1, size: 3 }], 2);
  assert.equal(uneven.x.length, 11);
  assert.equal(layout.domainOf(uneven.levels[0], 3), 1);
  const cube = layout.layoutDevices([{ domains: 1, size: 64, dims: [4, 4, 4] }], 1.5);
  assert.equal(cube.y[0], cube.y[3]);
  assert.ok(cube.y[4] > cube.y[0]);
  const lone = layout.layoutDevices([{ domains: 1, size: 1 }], 1.5);
  assert.equal(lone.x.length, 1);
  assert.equal(32 % layout.chooseColumns(32, 4.8, 3, 1.5), 0);  // no ragged row where a full one is near
});

test('131,072 devices are laid out in well under a second', () => {
  const begin = performance.now();
  const map = layout.layoutDevices([{ domains: 16384, size: 8 }, { domains: 512, size: 32 }, { domains: 1, size: 512 }], 1.6);
  assert.equal(map.x.length, 131072);
  assert.ok(performance.now() - begin < 1500);
});

const kStrategy = { tensor: 2, context: 1, expert: 1, expert_tensor: 2 };
const kData = {
  cluster: { name: 'x', devices: 10 },
  levels: [{ name: 'node', domains: 1, size: 10 }],
  stages: [{ layers: [0, 1], strategy: kStrategy }, { layers: [2], strategy: kStrategy }],
  placement: { used: 8, stages: [{ cell: 2, starts: [4, 6] }, { cell: 2, devices: [0, 2, 1, 3] }] },
};

test('devices know their stage, copy and rank', () => {
  const roles = devices.deviceRoles(kData);
  assert.deepEqual([...roles.stage], [1, 1, 1, 1, 0, 0, 0, 0, -1, -1]);
  assert.deepEqual([...roles.copy], [0, 1, 0, 1, 0, 0, 1, 1, -1, -1]);
  assert.deepEqual([...roles.rank], [0, 0, 1, 1, 0, 1, 0, 1, -1, -1]);
  assert.deepEqual(devices.cellCoordinates({ tensor: 2, context: 2, expert: 4, expert_tensor: 1 }, 5),
    { tensor: 1, context: 0, side: 1, expert: 1 });
});

test('colourings are those that tell devices apart', () => {
  const roles = devices.deviceRoles(kData);
  const list = devices.colourings(kData, roles);
  assert.deepEqual(list.map((c) => c.key), ['stage', 'copy', 'tensor']);
  assert.equal(list[2].of(5), 1);
  assert.equal(list[2].of(9), -1);
  assert.deepEqual(devices.countValues(list[0], 2, 10), [[0, 4], [1, 2], [-1, 2]]);
  const map = layout.layoutDevices(kData.levels, 1);
  assert.deepEqual(devices.describeDevice(kData, roles, map, 5),
    ['device 5', 'x', 'stage 0, copy 0', 'tensor rank 1 of 2', 'layers 0-1']);
  assert.deepEqual(devices.describeDevice(kData, roles, map, 9), ['device 9', 'x', 'idle']);
});

const kTimeline = { kinds: ['forward', 'backward', 'weight', 'receive', 'reduce'], tick_s: 0.5,
  rows: [[0, 0, 0, 0, 2, 1, 0, 0, 2, 4, 4, 0, 0, 6, 2]] };

test('a timeline is unpacked into what runs and what runs beside it', () => {
  const [row] = spans.unpackTimeline(kTimeline);
  assert.deepEqual(row.compute.map((s) => [s.kind, s.from, s.to]), [['forward', 0, 1], ['backward', 1, 3]]);
  assert.deepEqual(row.beside.map((s) => [s.kind, s.from, s.to]), [['reduce', 3, 4]]);
  assert.equal(spans.firstAfter(row.compute, 1), 1);
  assert.equal(spans.firstAfter(row.compute, 3), 2);
  assert.deepEqual(spans.sumKinds(row.compute), { forward: 1, backward: 2 });
});

test('copies to and from the host have lists of their own, and its update is work', () => {
  const [row] = spans.unpackTimeline({ kinds: ['to host', 'host update', 'from host'], tick_s: 1,
    rows: [[0, 0, 0, 0, 2, 1, 0, 0, 1, 3, 2, 0, 0, 2, 2]] });
  assert.deepEqual([row.beside, row.compute, row.back].map((list) => list.map((s) => [s.kind, s.from, s.to])),
    [[['to host', 0, 2]], [['host update', 1, 4]], [['from host', 2, 4]]]);
});

test('passes beside each other are passes in halves of a row, and share its time', () => {
  const [row] = spans.unpackTimeline({ kinds: [...kTimeline.kinds, 'forward beside', 'backward beside'], tick_s: 1,
    rows: [[0, 0, 0, 0, 2, 5, 1, 0, 2, 4, 6, 0, 1, 2, 4]] });
  assert.deepEqual(row.compute.map((s) => [s.kind, s.half, s.chunk, s.from, s.to]),
    [['forward', undefined, 0, 0, 2], ['forward', 0, 0, 2, 6], ['backward', 1, 1, 2, 6]]);
  assert.deepEqual(spans.sumKinds(row.compute), { forward: 4, backward: 2 });
  const { columns } = spans.gatherSpans(row.compute, 0, 600, 600, 5);
  assert.deepEqual(columns.map((c) => c.shares), [{ forward: 1 }, { forward: 1 },
    ...Array.from({ length: 4 }, () => ({ forward: 0.5, backward: 0.5 }))]);
});

test('narrow segments become columns that keep their time', () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ kind: i % 2 ? 'backward' : 'forward', from: i, to: i + 1 }));
  const { boxes, columns } = spans.gatherSpans(many, 0, 1000, 100);
  assert.equal(boxes.length, 0);
  assert.equal(columns.length, 100);
  for (const { shares } of columns) {
    assert.ok(Math.abs(shares.forward - 0.5) < 1e-9 && Math.abs(shares.backward - 0.5) < 1e-9);
  }
  const near = spans.gatherSpans(many, 10, 20, 100);
  assert.equal(near.boxes.length, 10);
  assert.equal(near.columns.length, 0);
});

test('a long step shows its beginning and its end, and a short one everything', () => {
  const rows = (count) => [{ compute: Array.from({ length: count }, (_, i) => ({ kind: i % 2 ? 'backward' : 'forward', from: i, to: i + 1 })) }];
  assert.equal(spans.shortPass(rows(100)), 1);
  assert.equal(spans.shortPass([{ compute: [] }]), 0);
  assert.deepEqual(spans.chooseWindows(4, 1, 10, 10, 1000), [{ from: 0, to: 10, x: 0, end: 1000 }]);
  const [first, last] = spans.chooseWindows(4, 1, 1000, 990, 1000);
  assert.equal(first.from, 0);
  assert.ok(Math.abs((first.to - first.from) - (last.to - last.from)) < 1e-9);
  assert.ok(first.end < last.x && last.end === 1000);
  assert.ok((first.end - first.x) / (first.to - first.from) >= 22 - 1e-9);  // pixels of a pass
  assert.ok(last.from < 990 && last.to > 990 && last.to <= 1000);
  // Sixty-four stages: a window shows how they fill.
  const [many] = spans.chooseWindows(64, 1, 1000, 990, 1000);
  assert.ok(many.to > 64);
  // What comes after the last pass, up to where devices only wait, and passes before it.
  const [, tail] = spans.chooseWindows(16, 1, 1020, 990, 320, 1002);
  assert.ok(tail.to >= 1002 && tail.to < 1005, `${tail.to}`);
  assert.ok(tail.from < 990);
  // More of it than fits is drawn closer together, within reason; passes keep four tenths.
  const [begin, dense] = spans.chooseWindows(16, 1, 1100, 990, 320, 1020);
  assert.ok(dense.to >= 1020 && dense.to - dense.from > begin.to - begin.from);
  const [, long] = spans.chooseWindows(16, 1, 2000, 990, 320, 1900);
  assert.ok(Math.abs((long.to - long.from) / (begin.to - begin.from) - 4) < 1e-9);
  for (const w of [dense, long]) assert.ok((990 - w.from) / (w.to - w.from) >= 0.4 - 1e-9);
  // Nothing to leave out.
  assert.equal(spans.chooseWindows(64, 1, 100, 100, 1000).length, 1);
  assert.equal(spans.chooseWindows(4, 0, 1, 1, 100).length, 1);
});

test('memory is told from its last change on', () => {
  const [row] = memory.unpackMemory({ tick_s: 0.5, unit_bytes: 10, rows: [[0, 4, 2, 7, 6, 4]] });
  assert.deepEqual(row, [{ from: 0, bytes: 40 }, { from: 1, bytes: 70 }, { from: 3, bytes: 40 }]);
  assert.equal(memory.heldAt(row, 0.9), 40);
  assert.equal(memory.heldAt(row, 1), 70);
  assert.equal(memory.heldAt(row, 99), 40);
});

test('operators know their roof', () => {
  const roof = { peak_flops_per_s: 2000, plain_peak_flops_per_s: 1000, bandwidth_bytes_per_s: 10 };
  const op = (more) => ({ name: 'x', kind: 'matmul', forward_flops: 1000, forward_bytes: 1, backward_flops: 2000, forward_s: 2, backward_s: 4, low: false, ...more });
  const [forward, backward] = roofline.rooflinePoints(roof, { operators: [op()] });
  assert.deepEqual([forward.intensity, forward.rate, forward.roof, forward.reached, forward.memory], [1000, 500, 1000, 0.5, false]);
  assert.equal(backward.rate, 500);
  assert.equal(forward.share + backward.share, 1);
  assert.equal(roofline.rooflinePoints(roof, { operators: [op({ low: true })] })[0].roof, 2000);
  // A weight that is not trained: as many FLOPs and bytes back as forward.
  const frozen = roofline.rooflinePoints(roof, { operators: [op({ backward_flops: 1000, backward_s: 2 })] })[1];
  assert.deepEqual([frozen.rate, frozen.bytes, frozen.intensity], [500, 1, 1000]);
  const [slow] = roofline.rooflinePoints(roof, { operators: [op({ forward_bytes: 100 })] });
  assert.deepEqual([slow.memory, slow.roof], [true, 100]);
  const [moves, back] = roofline.rooflinePoints(roof, { operators: [op({ forward_flops: 0, forward_bytes: 10 })] });
  assert.equal(back.reached, null);
  assert.equal(moves.reached, 0.5);  // 10 bytes in 2 s of 10 bytes/s
});

test('borders are as wide as links are busy', () => {
  const data = { levels: kLevels, traffic: { domains: [{ level: 0, of: 'device', bytes: [8], busy: [0.9] },
    { level: 1, of: 'node', bytes: [10, 20, 0, 0], busy: [0.2, 0.6, 0, 0] }] } };
  const loads = uplinks.uplinkLoads(data);
  assert.equal(loads.most, 0.6);
  const theme = { line: '#888888' };
  assert.equal(uplinks.borderOf(loads, 0, 2, theme), null);
  assert.equal(uplinks.borderOf(loads, 1, 0, theme), null);
  assert.equal(uplinks.borderOf(loads, 0, 1, theme).text, '60.0 %');
  assert.ok(uplinks.borderOf(loads, 0, 1, theme).width > uplinks.borderOf(loads, 0, 0, theme).width);
  assert.equal(uplinks.uplinkLoads({ levels: kLevels }), null);
});

test('borders of the least and the busiest links differ, whatever the busiest is', () => {
  const theme = { line: '#888888' };
  const colours = [0.1, 0.4, 0.7, 1].map((share) => uplinks.busyColour(share, theme));
  assert.equal(new Set(colours).size, 4);
  const apart = (a, b) => Math.hypot(...colour.parseColour(a).map((v, i) => v - colour.parseColour(b)[i]));
  assert.ok(apart(colours[0], colours[3]) > 100);
  const loads = uplinks.uplinkLoads({ levels: kLevels, traffic: { domains: [{ level: 1, of: 'node', bytes: [1, 2, 0, 0], busy: [0.06, 0.115, 0, 0] }] } });
  assert.equal(loads.most, 0.115);  // the scale ends at what there is
});

test('reserve and margin lie apart from what is used, at the end of the device', () => {
  const memory = { total_bytes: 72, reserve_bytes: 2, margin_bytes: 5, capacity_bytes: 80 };
  assert.equal(devices.usedBytes(memory), 70);
  assert.deepEqual(bars.memoryApart(memory), { reserve: { from: 73, value: 2 }, margin: { from: 75, value: 5 } });
  // More is used than the margin allows: the reserve follows, and the margin is what is left.
  assert.deepEqual(bars.memoryApart({ ...memory, total_bytes: 78 }), { reserve: { from: 76, value: 2 }, margin: { from: 78, value: 2 } });
  assert.deepEqual(bars.memoryApart({ ...memory, total_bytes: 90 }), { reserve: { from: 88, value: 2 }, margin: { from: 90, value: 0 } });
});

test('the strict optimum is what a table compares with, and stands below the plan that is taken', () => {
  const parallelism = { tensor: 1, pipeline: 1, data: 8, zero: 0 };
  const strict = { step_s: 1, micro_batch: 1, devices: 8, parallelism, strict: true, near_tie: true, taken_loses_most_by: { name: 'bubble', change_s: 0.1 } };
  const data = { parallelism, training: { micro_batch: 1 }, predicted: { step_s: 1.004 }, alternatives: [strict, { step_s: 1.1, micro_batch: 1, parallelism }] };
  const { all, best } = panels.alternativeRows(data);
  assert.deepEqual(all.map((p) => p.step_s), [1.004, 1, 1.1]);
  assert.equal(best, strict);
  assert.equal(all[0].near_tie, true);
  assert.deepEqual(all[0].loses_most_by, strict.taken_loses_most_by);
  assert.deepEqual([0, 1].map((i) => panels.otherName(data.alternatives, i)), ['best', '2']);
  const alone = { ...data, alternatives: data.alternatives.slice(1) };
  assert.equal(panels.alternativeRows(alone).best.plan, true);
  assert.equal(panels.otherName(alone.alternatives, 0), '2');  // the plan itself is the best
});

test('shadow prices say nothing where a change buys nothing', () => {
  assert.equal(prices.spellPrice({ change: 'x', share: -0.041, status: 'optimal' }), '-4.1 %');
  assert.equal(prices.spellPrice({ change: 'x', share: -1e-5, status: 'optimal' }), 'nothing');
  assert.equal(prices.spellPrice({ change: 'x', share: -0.02, status: 'feasible' }), '-2.0 %, not proved');
  assert.equal(prices.spellPrice({ change: 'x', status: 'infeasible' }), 'does not fit');
  assert.equal(prices.spellPrice({ change: 'x', status: 'limit' }), 'not known');
});

test('tables leave out degrees that go without saying', () => {
  const { all, degrees } = panels.alternativeRows({ parallelism: { tensor: 1, pipeline: 2, data: 4, zero: 0 },
    training: { micro_batch: 1 }, predicted: { step_s: 1 },
    alternatives: [{ step_s: 2, micro_batch: 2, devices: 8, parallelism: { tensor: 1, pipeline: 1, data: 8, zero: 1 } }] });
  assert.deepEqual(all.map((p) => p.devices), [8, 8]);
  assert.deepEqual(degrees.map(([key]) => key), ['pipeline', 'data', 'zero']);
});

test('parts of nothing are not drawn', () => {
  assert.deepEqual(bars.partsOf({ a_s: 1, b_s: 0 }, ['a', 'b', 'c'], '_s'), [{ name: 'a', value: 1 }]);
});

test('scripts can be put into one page: no name twice, no import of several lines, no markup from data', () => {
  const names = new Map();
  for (const file of readdirSync(kFolder).filter((f) => f.endsWith('.js'))) {
    const text = readFileSync(new URL(file, kFolder), 'utf8');
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|<\/script/i, file);
    for (const line of text.split('\n')) {
      if (line.startsWith('import ')) assert.match(line, /^import \{[^}]*\} from '\.\/[a-z]+\.js';$/, file);
      if (/^export [{*]/.test(line)) assert.equal(file, 'views.js');
      const made = /^(?:export )?(?:const|let|function|class) (\w+)/.exec(line);
      if (made) assert.ok(!names.has(made[1]), `${made[1]} is in ${file} and in ${names.get(made[1])}`);
      if (made) names.set(made[1], file);
    }
  }
});
