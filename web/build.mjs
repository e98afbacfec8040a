// Bundles the web application: node build.mjs FOLDER writes index.html, app.js, app.css and icon.svg there.
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) throw new Error('usage: node build.mjs FOLDER');
await mkdir(folder, { recursive: true });
await build({
  entryPoints: [join(here, 'src/app.ts'), join(here, 'src/app.css')],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  // The report's views, by the name under which tsconfig.json knows them.
  alias: { '@views': join(here, '../src/nest/report/page') },
  logLevel: 'warning',
  legalComments: 'none',
});
for (const name of ['index.html', 'icon.svg']) await copyFile(join(here, 'src', name), join(folder, name));
