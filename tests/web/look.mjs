// Pictures of every view of the page to look at: node look.mjs [NEST] [FOLDER] [PART OF A NAME]. Wide and narrow, light
// and dark; each with what is wider than the screen, and texts that are cut off, on the standard output.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPage, planned, root, startBrowser, startServer } from './browser.mjs';

const [nest = join(root, 'build/nest'), folder = join(root, 'build/look-web'), part = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const link = (state) => `/#s=${Buffer.from(JSON.stringify(state)).toString('base64url')}`;
const views = ['placement', 'timeline', 'time', 'memory', 'traffic', 'roofline', 'sensitivity', 'shadow', 'alternatives', 'stages',
  'inputs'];
const large = { model: 'llama3.1-405b', batch: 2048, choices: { pipeline: '16' } };
const scenes = {
  ...Object.fromEntries(views.map((view) => [view, { state: { view } }])),
  'large-placement': { state: { ...large, view: 'placement' } },
  'large-timeline': { state: { ...large, view: 'timeline' } },
  'large-memory': { state: { ...large, view: 'memory' } },
  experts: { state: { model: 'deepseek-v3', devices: 512, view: 'roofline' } },
  'nothing-fits': { state: { devices: 4 } },
  compare: { state: { memory: 6e10, view: 'memory', pinned: {} } },
  shadow: { state: { view: 'shadow' }, act: (page) => page.locator('#panel .nest-row').first().waitFor({ timeout: 60_000 }) },
  alternatives: { state: { view: 'alternatives' }, act: (page) => page.locator('#panel tbody tr').nth(2).waitFor({ timeout: 60_000 }) },
  zoomed: { state: { ...large, view: 'timeline' }, async act(page) {
    await page.getByRole('button', { name: 'show the last passes' }).click();
    await page.getByRole('button', { name: 'zoom in' }).click();
    await page.getByRole('button', { name: 'zoom out' }).click();
  } },
  'fine-tuning': { state: { train: 'lora:16:q_proj+v_proj', frozenBits: '4', freeze: 'embedding', view: 'roofline' }, async act(page, narrow) {
    if (narrow) await page.locator('#fold').click();
    await page.locator('#tuning').scrollIntoViewIfNeeded();
  } },
  alternative: { state: { view: 'alternatives' }, async act(page) {
    await page.getByRole('button', { name: 'show plan 2 in full' }).click();
    await page.locator('.answer h2', { hasText: 'Number 2' }).waitFor();
  } },
  'near-tie': { state: { devices: 64, batch: 256, view: 'alternatives' } },
  'near-tie-memory': { state: { devices: 64, batch: 256, view: 'memory' } },
  searching: { state: {}, async act(page, narrow) {
    if (narrow) await page.locator('#fold').click();
    await page.locator('#cluster').selectOption('mega-131072');
    await page.getByLabel('Name').first().fill('deepseek-v3');
    await page.keyboard.press('Enter');
    if (narrow) await page.locator('#fold').click();
    await page.locator('.coarse').first().waitFor();
  } },
  problem: { state: { choices: { tensor: '2..x' } } },
  question: { state: { oversubscription: { spine: 8 }, risky: false }, async act(page, narrow) {
    if (narrow) await page.locator('#fold').click();
    await page.getByLabel('Devices in').fill('many');
    await page.keyboard.press('Enter');
  } },
};

// What a reader would complain of.
function complaints() {
  const out = [];
  if (document.documentElement.scrollWidth > innerWidth) out.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const node of document.querySelectorAll('button, h2, h3, dt, dd, label, .nest-legend, svg text')) {
    if (node.closest('.hidden, [hidden]') || node.matches('[for=model], [for=cluster]') || node.getClientRects().length === 0) continue;
    const box = node.getBoundingClientRect();
    const scroll = node.closest('.nest-scroll, #tabs, .view, #differences');
    if (!scroll && (box.right > innerWidth + 1 || box.left < -1)) out.push(`outside: ${node.textContent.slice(0, 40)}`);
    if (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0) out.push(`cut off: ${node.textContent.slice(0, 60)}`);
    const svg = node.closest('svg')?.getBoundingClientRect();
    if (node.tagName === 'text' && svg && (box.right > svg.right + 2 || box.left < svg.left - 2)) out.push(`cut off: ${node.textContent}`);
  }
  return out;
}

const server = await startServer(nest);
const browser = await startBrowser();
for (const [width, height] of [[1440, 900], [390, 844]]) {
  for (const dark of [false, true]) {
    for (const [name, { state, act }] of Object.entries(scenes)) {
      const file = `${name}-${width}-${dark ? 'dark' : 'light'}`;
      if (!file.includes(part)) continue;
      const options = { viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' };
      const { page, close } = await openPage(browser, server.address + link(state), options);
      await planned(page);
      await act?.(page, width < 500);
      await page.waitForTimeout(150);
      for (const text of await page.evaluate(complaints)) console.log(`${file}: ${text}`);
      await page.screenshot({ path: join(folder, `${file}.png`) });
      await page.screenshot({ path: join(folder, `${file}-whole.png`), fullPage: true });
      await close();
    }
  }
}
await browser.close();
await server.stop();
