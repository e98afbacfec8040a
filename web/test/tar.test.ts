import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { tar } from '../src/tar';

test('tar(1) reads what we write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nest-tar-'));
  const text = 'x'.repeat(512) + 'ä\n';
  writeFileSync(join(folder, 'a.tar'), tar('launch', [{ name: 'run.sh', text: '#!/bin/sh\n' }, { name: 'placement/map.csv', text }]));
  execFileSync('tar', ['xf', 'a.tar'], { cwd: folder });
  assert.equal(readFileSync(join(folder, 'launch/placement/map.csv'), 'utf8'), text);
  assert.notEqual(statSync(join(folder, 'launch/run.sh')).mode & 0o100, 0);
});

test('names that do not fit are refused', () => {
  assert.throws(() => tar('a', [{ name: 'b'.repeat(120), text: '' }]), /too long/);
});
