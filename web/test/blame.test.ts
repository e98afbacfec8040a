import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blamedKeys } from '../src/blame';
import { copyOf, kDefaults } from '../src/state';

test('an error stands beside the control that it is about', () => {
  const state = copyOf(kDefaults);
  assert.deepEqual(blamedKeys('request: line 1, choices.tensor', state), ['choices.tensor', 'choices.tensor']);
  assert.deepEqual(blamedKeys('request: line 1, memory_margin', state)[0], 'memory_margin');
  assert.deepEqual(blamedKeys('request: model_text', state), ['model_text', 'model']);
  assert.deepEqual(blamedKeys('model', state), ['model']);
  assert.deepEqual(blamedKeys('', state), []);
});

test('an error in a text stands beside the text', () => {
  assert.deepEqual(blamedKeys('cluster: line 4, levels[0]', { ...kDefaults, clusterText: 'name: mine' }), ['cluster_text', 'cluster']);
  assert.deepEqual(blamedKeys('recipe: line 1, framework', { ...kDefaults, recipeText: 'framework: nope' }), ['recipe_text', 'recipe']);
});

test('devices that a cluster cannot have are the fault of their number', () => {
  assert.equal(blamedKeys('h100-spine-leaf', { ...kDefaults, devices: 1000 })[0], 'devices');
  assert.equal(blamedKeys('mine', { ...kDefaults, clusterText: 'name: mine', devices: 1000 })[0], 'devices');
});
