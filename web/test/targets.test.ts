import { test } from 'node:test';
import assert from 'node:assert/strict';
import { triedText } from '../src/targets';

test('releases that were tried alike are one sentence', () => {
  const release = (name: string, how: string) => ({ name, released: '', tried: '2026-11-16', how });
  const target = { name: 'x', title: 'X', text: 'files', usual_release: '2', releases: [release('1', 'read'), release('2', 'read'), release('main', 'run')] };
  assert.equal(triedText(target), 'Tried with X 1, 2 (the usual one) on 2026-11-16 (read); main on 2026-11-16 (run). docs/export.md says how to repeat it.');
  assert.equal(triedText({ ...target, releases: [] }), 'X: files.');
});
