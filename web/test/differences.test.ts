import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportData } from '@views/views.js';
import { differences } from '../src/differences';

function plan(step: number, bubble: number, tensor: number, rate = 450e9): ReportData {
  return {
    inputs: { model: 'm', cluster: 'c', recipe: { name: 'megatron' } }, model: { name: 'm', layers: [] }, cluster: { name: 'c', devices: 8, levels: [] },
    accelerator: { name: 'a', memory_bytes: 2 ** 36 },
    levels: [{ name: 'node', bandwidth_bytes_per_s: rate }],
    training: { global_batch: 8, sequence: 128, micro_batch: 1, micro_batches: 8, precision: 'bf16', optimizer: 'adam' },
    parallelism: { tensor, pipeline: 1, data: 1, zero: 0, sequence_parallel: tensor > 1 },
    stages: [{ memory: { total_bytes: 2 ** 30 } }], placement: { used: 8, stages: [] },
    predicted: {
      step_s: step, tokens_per_s: 1000 / step, mfu: 0.5 / step, bubble_fraction: bubble,
      breakdown: { compute_s: step - bubble, bubble_s: bubble, data_s: 0 },
    },
  } as unknown as ReportData;
}

function rowsOf(first: ReportData, second: ReportData) {
  return new Map(differences(first, second).flatMap((group) => group.rows.map((row) => [row.name, row])));
}

test('shorter steps are better, and the change is told', () => {
  const rows = rowsOf(plan(2, 0.1, 1), plan(1, 0.1, 2));
  assert.equal(rows.get('step')?.verdict, 'better');
  assert.equal(rows.get('step')?.change, '-50.0 %');
  assert.equal(rows.get('tokens a second')?.verdict, 'better');
  assert.equal(rows.get('tensor')?.verdict, 'other');
  assert.equal(rows.get('sequence parallel')?.second, 'on');
  assert.equal(rows.get('zero')?.verdict, 'same');
  assert.equal(rows.has('schedule'), false);
});

test('from nothing to something has no percentage', () => {
  const rows = rowsOf(plan(2, 0, 1), plan(2, 0.5, 1));
  assert.deepEqual([...rows.keys()].filter((name) => name === 'data'), ['data']); // the degree, not the time
  const bubble = differences(plan(2, 0, 1), plan(2, 0.5, 1)).at(-1)?.rows.find((row) => row.name === 'bubble');
  assert.equal(bubble?.change, '+500 ms');
  assert.equal(bubble?.verdict, 'worse');
});

test('of the question only what differs is shown', () => {
  assert.equal(differences(plan(1, 0, 1), plan(1, 0, 1)).some((group) => group.title === 'Question'), false);
  const rows = rowsOf(plan(1, 0, 1), plan(1, 0, 1, 900e9));
  assert.equal(rows.get('node bandwidth')?.second, '900 GB/s');
});

test('recipe, optimizer and what is trained are parts of the question', () => {
  const other = plan(1, 0, 1);
  other.inputs.recipe = 'torchtitan';
  Object.assign(other.training, { optimizer: 'sgd', train: { lora: { rank: 16, targets: ['q_proj', 'v_proj'] } }, freeze: ['head'], frozen_bits: 4 });
  const rows = rowsOf(plan(1, 0, 1), other);
  assert.deepEqual(['recipe', 'optimizer', 'trained', 'frozen', 'frozen weights in'].map((name) => [rows.get(name)?.first, rows.get(name)?.second]),
    [['megatron', 'torchtitan'], ['adam', 'sgd'], ['all', 'adapters of rank 16 beside q_proj, v_proj'], ['nothing', 'head'], ['16 bits', '4 bits']]);
  const layers = plan(1, 0, 1);
  layers.training.train = { layers: '24..' };
  assert.equal(rowsOf(plan(1, 0, 1), layers).get('trained')?.second, 'layers 24..');
});

test('the tensor degree of experts is told of only where it is another', () => {
  const [one, two] = [plan(1, 0, 1), plan(1, 0, 2)];
  one.parallelism.expert_tensor = 1;
  two.parallelism.expert_tensor = 2;
  assert.equal(rowsOf(one, two).has('expert tensor'), false);
  two.parallelism.expert_tensor = 1;
  two.parallelism.zero = 1;
  one.parallelism.expert_tensor = 4;
  assert.equal(rowsOf(one, two).get('expert tensor')?.first, '4');
});
