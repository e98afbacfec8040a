import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksForOthers, isPatient, othersOf, patientOf, requestOf } from '../src/request';
import { copyOf, kDefaults } from '../src/state';

test('the usual question', () => {
  assert.deepEqual(requestOf(copyOf(kDefaults), 'tab'), {
    session: 'tab', views: true, time_limit_s: 1.5, global_batch: 1024, model: 'llama3.1-70b', cluster: 'h100-spine-leaf',
    recipe: 'megatron',
  });
});

test('texts count where there are any, changes only where something changed', () => {
  const state = {
    ...copyOf(kDefaults), modelText: '{}', clusterText: 'name: x', devices: 64, memory: 1e10,
    bandwidth: { node: 1e11 }, sequence: 2048, precision: 'fp8', framework: 'megatron', choices: { zero: '1' },
  };
  assert.deepEqual(requestOf(state, 'tab'), {
    session: 'tab', views: true, time_limit_s: 1.5, global_batch: 1024, model_text: '{}', cluster_text: 'name: x', recipe: 'megatron',
    for: 'megatron', precision: 'fp8', devices: 64, sequence: 2048, choices: { zero: '1' },
    changes: { memory_bytes: 1e10, bandwidth_bytes_per_s: { node: 1e11 } },
  });
});

test('the others are asked for apart', () => {
  const request = requestOf(copyOf(kDefaults), 'tab');
  assert.equal(asksForOthers(request), false);
  assert.equal(asksForOthers(othersOf(request)), true);
  assert.equal(othersOf(request).views, false);
});

test('the second turn has all the time there is', () => {
  const request = requestOf(copyOf(kDefaults), 'tab');
  assert.equal(isPatient(request), false);
  assert.equal(isPatient(patientOf(request)), true);
  assert.equal(patientOf(request).model, 'llama3.1-70b');
});
