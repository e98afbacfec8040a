import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedKeys, copyOf, decodeLink, encodeLink, kDefaults, readState } from '../src/state';

test('the usual question needs no link', () => {
  assert.equal(encodeLink({ now: copyOf(kDefaults), pinned: null }), '');
  assert.deepEqual(decodeLink(''), { now: kDefaults, pinned: null });
});

test('a link holds everything, and comes back the same', () => {
  const now = {
    ...copyOf(kDefaults), model: 'deepseek-v3', clusterText: 'name: g\u00f6\u00dfe \u4e2d\n', devices: 512, memory: 4e10,
    bandwidth: { rack: 1.25e10 }, oversubscription: { spine: 8 }, fits: 0.99, margin: '8%', strict: true, batch: 2048, sequence: 4096, train: 'lora:16', freeze: 'router', frozenBits: '8', choices: { tensor: '4,8' }, view: 'memory',
  };
  const pinned = { ...copyOf(kDefaults), framework: 'megatron' };
  const text = encodeLink({ now, pinned });
  assert.match(text, /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(decodeLink(text), { now, pinned });
});

test('what makes no sense takes its default', () => {
  const state = readState({
    model: 3, devices: -1, memory: '80', bandwidth: { node: 'fast', rack: 1e10 }, choices: { tensor: 8, zero: '1' },
    batch: Infinity, nonsense: 1,
  });
  assert.deepEqual(state, { ...copyOf(kDefaults), bandwidth: { rack: 1e10 }, choices: { zero: '1' } });
  assert.deepEqual(readState(null), kDefaults);
  assert.deepEqual(readState([1]), kDefaults);
});

test('what differs between two questions is told by name, and the open view is no part of them', () => {
  const one = copyOf(kDefaults);
  const other = { ...copyOf(kDefaults), devices: 8, bandwidth: { rack: 1 }, choices: { zero: '1' }, view: 'memory' };
  assert.equal(changedKeys(one, other), 'bandwidth.rack, choices.zero, devices');
  assert.equal(changedKeys(one, { ...one, view: 'time' }), '');
});

test('a text that is no link', () => {
  assert.equal(decodeLink('%%%'), null);
  assert.equal(decodeLink('AAAA'), null);
});

test('a state is never shared with its copy', () => {
  const one = copyOf(kDefaults);
  one.bandwidth.node = 1;
  one.choices.zero = '1';
  one.oversubscription.spine = 2;
  assert.deepEqual(kDefaults.oversubscription, {});
  assert.deepEqual(kDefaults.bandwidth, {});
  assert.deepEqual(copyOf(kDefaults).choices, {});
});
