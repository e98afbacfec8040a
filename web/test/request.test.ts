import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpen, isPatient, patientOf, pricesOf, requestOf, takeAdvice } from '../src/request';
import { copyOf, kDefaults } from '../src/state';

test('the usual question', () => {
  assert.deepEqual(requestOf(copyOf(kDefaults), 'tab'), {
    session: 'tab', views: true, runners_up: 3, in_full: true, time_limit_s: 0.7, advice: false, global_batch: 1024, model: 'llama3.1-70b',
    cluster: 'h100-spine-leaf', recipe: 'megatron',
  });
});

test('texts count where there are any, changes only where something changed', () => {
  const state = {
    ...copyOf(kDefaults), modelText: '{}', clusterText: 'name: x', devices: 64, memory: 1e10,
    bandwidth: { node: 1e11 }, oversubscription: { spine: 2 }, sequence: 2048, precision: 'fp8', optimizer: 'sgd',
    framework: 'megatron', choices: { zero: '1' }, recipeText: 'framework: megatron', strict: true,
  };
  assert.deepEqual(requestOf(state, 'tab'), {
    session: 'tab', views: true, runners_up: 3, in_full: true, time_limit_s: 0.7, advice: false, global_batch: 1024, model_text: '{}', cluster_text: 'name: x',
    recipe_text: 'framework: megatron', for: 'megatron', precision: 'fp8', optimizer: 'sgd', strict: true, devices: 64, sequence: 2048, choices: { zero: '1' },
    changes: { memory_bytes: 1e10, bandwidth_bytes_per_s: { node: 1e11 }, oversubscription: { spine: 2 } },
  });
});

test('fine-tuning is said in the words of the command line', () => {
  const { train, freeze, frozen_bits } = requestOf({ ...copyOf(kDefaults), train: 'lora:8:q_proj+v_proj', freeze: 'embedding,head', frozenBits: '4' }, 'tab');
  assert.deepEqual([train, freeze, frozen_bits], ['lora:8:q_proj+v_proj', 'embedding,head', '4']);
});

test('how sure a plan must be to fit: risky before a margin before a probability', () => {
  const asked = (more: object) => {
    const { risky, memory_margin, fits } = requestOf({ ...copyOf(kDefaults), ...more }, 'tab');
    return { risky, memory_margin, fits };
  };
  assert.deepEqual(asked({}), { risky: undefined, memory_margin: undefined, fits: undefined });
  assert.deepEqual(asked({ fits: 0.99 }), { risky: undefined, memory_margin: undefined, fits: 0.99 });
  assert.deepEqual(asked({ fits: 0.99, margin: '8%' }), { risky: undefined, memory_margin: '8%', fits: undefined });
  assert.deepEqual(asked({ fits: 0.99, margin: '8%', risky: true }), { risky: true, memory_margin: undefined, fits: undefined });
});

test('a moment without a plan is no answer, and advice is asked for in the second turn', () => {
  const request = requestOf(copyOf(kDefaults), 'tab');
  assert.equal(isOpen({ status: 'limit' }, request), true);
  assert.equal(isOpen({ status: 'feasible' }, request), true);
  assert.equal(isOpen({ status: 'infeasible' }, request), true);
  assert.equal(isOpen({ status: 'optimal' }, request), false);
  for (const status of ['limit', 'feasible', 'infeasible']) assert.equal(isOpen({ status }, patientOf(request)), false);
  assert.equal(patientOf(request).advice, undefined);
});

test('advice that names a choice is taken', () => {
  const state = { ...copyOf(kDefaults), choices: { zero: '0', tensor: '1' }, framework: 'megatron' };
  assert.equal(takeAdvice(state, { kind: 'knob', sentence: '', field: 'zero', value: '' }), true);
  assert.equal(takeAdvice(state, { kind: 'knob', sentence: '', field: 'context', value: '4' }), true);
  assert.deepEqual(state.choices, { tensor: '1', context: '4' });
  assert.equal(takeAdvice(state, { kind: 'knob', sentence: '', field: 'for', value: '' }), true);
  assert.equal(state.framework, '');
  assert.equal(takeAdvice(state, { kind: 'throughput', sentence: '' }), false);
});

// Else the plan would depend on how fast the machine is.
test('a moment that had no time for simpler plans is not the last word either', () => {
  const request = requestOf(copyOf(kDefaults), 'tab');
  assert.equal(isOpen({ status: 'optimal', further_stopped: true }, request), true);
  assert.equal(isOpen({ status: 'optimal', further_stopped: true }, patientOf(request)), false);
});

test('both turns ask the same question: they differ in time and advice alone', () => {
  const request = requestOf({ ...copyOf(kDefaults), devices: 64, fits: 0.99 }, 'tab');
  const { time_limit_s: limit, advice, ...question } = request;
  assert.deepEqual([limit, advice], [0.7, false]);
  assert.deepEqual(patientOf(request), question);
});

test('shadow prices are asked for in a session of their own, without views', () => {
  const prices = pricesOf(requestOf(copyOf(kDefaults), 'tab'));
  assert.deepEqual([prices.session, prices.views, prices.time_limit_s], ['tab-prices', undefined, undefined]);
});

test('the second turn has all the time there is', () => {
  const request = requestOf(copyOf(kDefaults), 'tab');
  assert.equal(isPatient(request), false);
  assert.equal(isPatient(patientOf(request)), true);
  assert.equal(patientOf(request).model, 'llama3.1-70b');
});
