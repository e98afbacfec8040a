// Bundles the unit tests and runs them with Node's own runner: node test.mjs. The last line counts them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nest-web-'));
const tests = readdirSync(join(here, 'test')).filter((name) => name.endsWith('.test.ts'));
try {
  await build({
    entryPoints: tests.map((name) => join(here, 'test', name)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { '@views': join(here, '../src/nest/report/page') },
    logLevel: 'warning',
  });
  const files = tests.map((name) => join(folder, name.replace(/ts$/, 'mjs')));
  const result = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...files], { encoding: 'utf8' });
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)`, 'm').exec(result.stdout)?.[1] ?? 0);
  if (result.status !== 0) console.log(result.stdout, result.stderr);
  console.log(`${count('pass')} passed, ${count('fail') + (count('pass') ? 0 : 1)} failed`);
  process.exitCode = result.status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
