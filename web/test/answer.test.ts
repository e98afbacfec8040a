import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceSentence, coarseTexts, inWords, statusWords } from '../src/answer';
import type { ReportData } from '@views/views.js';

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
  assert.equal(inWords('hardly longer, but simpler (--strict takes the best)'), 'hardly longer, but simpler');
  assert.equal(inWords('not that exact (--fits and --memory-margin leave room)'), 'not that exact');
  assert.equal(inWords('1 stage (the first) is idle'), '1 stage (the first) is idle');
});

test('a simpler plan in place of the best is not called the optimum, and a moment\'s plan not the last word', () => {
  const views = (step_s: number, strict_s: number | null) => ({ predicted: { step_s },
    alternatives: strict_s === null ? [{ step_s: 2 }] : [{ step_s: strict_s, strict: true }] }) as unknown as ReportData;
  assert.equal(statusWords({ status: 'optimal', views: views(1, null) }, true), 'optimal');
  assert.equal(statusWords({ status: 'optimal', views: views(1.0018, 1) }, true), 'optimal within 0.2 %');
  assert.equal(statusWords({ status: 'optimal', views: views(1.0001, 1) }, true), 'optimal within 0.1 %');
  assert.equal(statusWords({ status: 'feasible', views: views(1.0018, 1) }, true), 'not proved');
  assert.equal(statusWords({ status: 'optimal', views: views(1, null) }, false), 'not final');
  assert.equal(statusWords({ status: 'infeasible' }, false), 'nothing fits');
});

test('whether there may be more advice is said as on the command line', () => {
  assert.match(adviceSentence({}), /^Looking for changes/);
  assert.match(adviceSentence({ advice: [] }), /^None of the changes/);
  assert.match(adviceSentence({ advice: [], advice_stopped: true }), /before a limit/);
  assert.equal(adviceSentence({ advice: [{ kind: 'memory', sentence: 'x' }] }), '');
});
