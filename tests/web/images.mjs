// Pictures of the web application for the documentation: node images.mjs NEST FOLDER (see tools/make_images).
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPage, planned, startBrowser, startServer } from './browser.mjs';

const [nest, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

function link(state) {
  return `/#s=${Buffer.from(JSON.stringify(state)).toString('base64url')}`;
}

const fast = { model: 'llama3.1-405b', batch: 512 };
const question = { ...fast, bandwidth: { rack: 1.25e10, spine: 1.25e10 } };
const pictures = {
  'serve-placement': { state: { ...question, view: 'placement' } },
  'serve-timeline': { state: { ...question, view: 'timeline' }, dark: true },
  'serve-compare': { state: { ...question, view: 'time', pinned: fast } },
};

const server = await startServer(nest);
const browser = await startBrowser();
for (const [name, { state, dark }] of Object.entries(pictures)) {
  const options = { viewport: { width: 1360, height: 860 }, colorScheme: dark ? 'dark' : 'light' };
  const { page, errors, close } = await openPage(browser, server.address + link(state), options);
  await planned(page);
  await page.waitForTimeout(200);
  // How long a plan took differs from machine to machine.
  await page.evaluate(() => { document.getElementById('working').textContent = ''; });
  await page.screenshot({ path: join(folder, `${name}.png`) });
  if (errors.length > 0) throw new Error(`${name}: ${errors.join('\n')}`);
  await close();
}
await browser.close();
await server.stop();
