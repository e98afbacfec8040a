import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinWords, kUsualTrain, readTrain, spellTrain, wrongTrain } from '../src/tuning';

test('what is trained is read and spelt as the command line has it', () => {
  assert.deepEqual(readTrain(''), kUsualTrain);
  assert.deepEqual(readTrain('lora:8:q_proj+v_proj'), { kind: 'lora', rank: '8', beside: 'q_proj+v_proj', layers: '' });
  assert.deepEqual(readTrain('layers 24..'), { ...kUsualTrain, kind: 'layers', layers: '24..' });
  for (const text of ['', 'lora:16', 'lora:8:q_proj+v_proj', 'layers 24..', 'layers ..7']) assert.equal(spellTrain(readTrain(text)), text);
  assert.deepEqual(readTrain('everything'), kUsualTrain);
});

test('what another kind left behind is not said', () => {
  assert.equal(spellTrain({ kind: 'all', rank: '8', beside: 'q_proj', layers: '24..' }), '');
  assert.equal(spellTrain({ kind: 'layers', rank: '8', beside: 'q_proj', layers: '24..' }), 'layers 24..');
});

test('lists are read as people type them', () => {
  for (const typed of ['q_proj+v_proj', ' q_proj, v_proj ', 'q_proj v_proj,']) assert.equal(joinWords(typed, '+'), 'q_proj+v_proj');
  assert.equal(joinWords(' ', '+'), '');
});

test('boxes that make no sense are told of', () => {
  assert.equal(wrongTrain(kUsualTrain), null);
  assert.equal(wrongTrain({ ...kUsualTrain, kind: 'lora' }), null);
  for (const rank of ['', '0', '-4', '2.5', 'many']) assert.equal(wrongTrain({ ...kUsualTrain, kind: 'lora', rank })?.[0], 'rank');
  for (const layers of ['24..', '8..15', '..7', '5']) assert.equal(wrongTrain({ ...kUsualTrain, kind: 'layers', layers }), null);
  for (const layers of ['', '..', '5-7', 'last']) assert.equal(wrongTrain({ ...kUsualTrain, kind: 'layers', layers })?.[0], 'layers');
});
