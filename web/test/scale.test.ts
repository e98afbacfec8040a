import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aroundBase, deviceStops, fitsLevels, nearestStop, powersOfTwo, readNumber } from '../src/scale';

const kLevels = [
  { name: 'node', kind: 'switch', size: 8 }, { name: 'rack', kind: 'switch', size: 4 },
  { name: 'spine', kind: 'switch', size: 32 },
];

test('stops go up by ratio, and the base is exact', () => {
  const stops = aroundBase(450e9, 20, 4);
  assert.equal(stops.length, 41);
  assert.equal(stops[20], 450e9);
  assert.equal(stops[24], 900e9);
  assert.ok(stops.every((stop, i) => i === 0 || stop > (stops[i - 1] ?? 0)));
});

test('the nearest stop is by ratio', () => {
  assert.equal(nearestStop([1, 2, 4, 8], 3), 2);
  assert.equal(nearestStop([1, 2, 4, 8], 100), 3);
  assert.equal(nearestStop([5], 1), 0);
});

test('powers of two', () => assert.deepEqual(powersOfTwo(2, 16), [2, 4, 8, 16]));

test('devices fit as whole children of a level', () => {
  for (const n of [1, 5, 8, 16, 32, 64, 1024, 2048]) assert.ok(fitsLevels(kLevels, n), `${n}`);
  for (const n of [9, 12, 36, 100]) assert.ok(!fitsLevels(kLevels, n), `${n}`);
  const torus = [{ name: 'pod', kind: 'torus', size: 256 }];
  assert.ok(fitsLevels(torus, 256));
  assert.ok(!fitsLevels(torus, 128));
});

test('the slider of devices has what fits, and the cluster itself', () => {
  assert.deepEqual(deviceStops(kLevels, 1024, 4096), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]);
  assert.deepEqual(deviceStops([{ name: 'n', kind: 'switch', sizes: [3, 4] }], 7, 100), [7]);
});

test('a number is read with its unit and commas, or what is wrong with it is said', () => {
  const rule = { unit: 'GiB', perUnit: 2 ** 30, whole: false, least: 0.1, most: 1e5 };
  assert.equal(readNumber('80', rule), 80 * 2 ** 30);
  assert.equal(readNumber(' 1,024 gib ', rule), 1024 * 2 ** 30);
  assert.equal(readNumber('abc', rule), "'abc' is not a number of GiB");
  assert.equal(readNumber('', rule), 'a number of GiB is expected');
  assert.equal(readNumber('80 GB', rule), "'80 GB' is not a number of GiB");
  assert.equal(readNumber('0x10', rule), "'0x10' is not a number of GiB");
  assert.equal(readNumber('-3', rule), 'at least 0.1 GiB, not -3');
  assert.equal(readNumber('1e9', rule), 'at most 100,000 GiB, not 1e9');
  assert.equal(readNumber('Infinity', rule), "'Infinity' is not a number of GiB");
  const devices = { unit: 'h100-sxm', noun: 'devices', perUnit: 1, whole: true, least: 1, most: 262_144 };
  assert.equal(readNumber('12.5', devices), "'12.5' is not a whole number");
  assert.equal(readNumber('0', devices), 'at least 1 devices, not 0');
  assert.equal(readNumber('64', devices), 64);
});
