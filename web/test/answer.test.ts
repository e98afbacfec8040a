import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceSentence, coarseTexts, inWords } from '../src/answer';

test('before there is a plan there is a bound, after it a range', () => {
  const texts = (bound_s: number, best_s: number | null) => coarseTexts({ tokens: 8e6, bound_s, best_s }).map(([key, text]) => [key, text]);
  assert.deepEqual(texts(4, null), [['step', 'over 4 s'], ['tokens', 'under 2 M']]);
  assert.deepEqual(texts(4, 4.76), [['step', '4 s to 4.76 s'], ['tokens', '1.68 M to 2 M']]);
  assert.deepEqual(texts(4, 4.0001), [['step', '4 s'], ['tokens', '1,999,950']]);
  assert.deepEqual(texts(0, null), []);
});

test('advice names controls, not options of the command line', () => {
  assert.equal(inWords('--zero left open, not 0'), 'zero left open, not 0');
  assert.equal(inWords('--global-batch 2048 in place of 1024'), 'global batch 2048 in place of 1024');
  assert.equal(inWords('without --for megatron'), 'without plans for megatron');
});

test('whether there may be more advice is said as on the command line', () => {
  assert.match(adviceSentence({}), /^Looking for changes/);
  assert.match(adviceSentence({ advice: [] }), /^None of the changes/);
  assert.match(adviceSentence({ advice: [], advice_stopped: true }), /before a limit/);
  assert.equal(adviceSentence({ advice: [{ kind: 'memory', sentence: 'x' }] }), '');
});
