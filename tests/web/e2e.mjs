// The web application in a real browser: node e2e.mjs [NEST] [FOLDER FOR SCREENSHOTS]. Each step begins on a fresh
// page and fails where the console has an error. The last line is "N passed, N failed".
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPage, planned, root, startBrowser, startServer } from './browser.mjs';

const nest = process.argv[2] ?? join(root, 'build/nest');
const folder = process.argv[3] ?? join(root, 'build/web-screenshots');
mkdirSync(folder, { recursive: true });

function check(holds, what) {
  if (!holds) throw new Error(what);
}

const slider = (page, name) => page.getByRole('slider', { name, exact: true });
const figure = (page, name, column = 0) =>
  page.locator('.answer').nth(column).locator('.figures div', { hasText: name }).locator('dd').innerText();
const tokens = async (page, column = 0) => Number((await figure(page, 'tokens a second', column)).replaceAll(',', ''));

async function press(page, key, times) {
  for (let i = 0; i < times; ++i) await page.keyboard.press(key);
  await page.waitForTimeout(120);
  await planned(page);
}

const steps = {
  async 'plans when it opens'(page) {
    check((await page.title()).startsWith('llama3.1-70b on h100-spine-leaf'), 'the title');
    check((await page.locator('.badge').innerText()) === 'optimal', 'the status');
    check(await tokens(page) > 1000, 'tokens a second');
    check((await page.locator('#panel canvas').count()) > 0, 'the placement map');
  },

  async 'every view draws'(page) {
    const tabs = page.getByRole('tab');
    const count = await tabs.count();
    check(count >= 10, 'ten views');
    for (let i = 0; i < count; ++i) {
      await tabs.nth(i).click();
      await page.waitForTimeout(60);
      check((await page.locator('#panel .nest-view').first().boundingBox()).height > 40, `view ${i} is empty`);
      const name = (await tabs.nth(i).innerText()).toLowerCase();
      await page.screenshot({ path: join(folder, `view-${name}.png`) });
    }
  },

  async 'plans again while a slider is dragged'(page) {
    const before = await tokens(page);
    const range = slider(page, 'spine bandwidth');
    await range.scrollIntoViewIfNeeded();
    const box = await range.boundingBox();
    const y = box.y + box.height / 2;
    const seen = new Set();
    await page.mouse.move(box.x + box.width / 2, y);
    await page.mouse.down();
    for (let i = 0; i <= 20; ++i) {
      await page.mouse.move(box.x + box.width * (0.5 - 0.22 * i / 20), y);
      await page.waitForTimeout(50);
      seen.add(await tokens(page));
    }
    await page.waitForTimeout(600);
    seen.add(await tokens(page));
    await page.mouse.up();
    await planned(page);
    check(await tokens(page) < before, 'less bandwidth is slower');
    check(seen.size >= 2, 'nothing changed while dragging');
    await page.getByRole('button', { name: 'spine bandwidth: back to the original' }).click();
    await page.waitForTimeout(120);
    await planned(page);
    check(await tokens(page) === before, 'back where it began');
  },

  async 'says what would fit where nothing does'(page) {
    await page.getByLabel('Devices in').fill('4');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(120);
    await planned(page);
    check((await page.locator('.badge').innerText()) === 'nothing fits', 'the status');
    check((await page.locator('.advice li').count()) >= 2, 'no advice');
    check((await page.locator('.answer', { hasText: 'memory in place of' }).count()) === 1, 'advice on memory');
    check((await page.locator('.advice', { hasText: 'tensor' }).count()) === 1, 'what the plan would be');
    check(!(await page.locator('.answer').innerText()).includes('--'), 'advice in words of the command line');
    check(await page.getByRole('button', { name: 'plan.json' }).isDisabled(), 'there is nothing to export');
    await page.screenshot({ path: join(folder, 'nothing-fits.png') });
    await page.getByRole('button', { name: 'Try it' }).last().click();
    await page.locator('.answer', { hasText: 'tokens a second' }).waitFor();
    await planned(page);
  },

  async 'compares two plans'(page) {
    await page.getByRole('button', { name: 'Pin this plan' }).click();
    await slider(page, 'Memory').focus();
    await press(page, 'ArrowLeft', 8);
    check((await page.locator('.answer').count()) === 2, 'two columns');
    check((await page.locator('.nest-view').count()) === 2, 'two maps');
    check(await tokens(page, 0) > await tokens(page, 1), 'half the memory is slower');
    check((await page.locator('.differences tr.worse').count()) > 0, 'what is worse');
    check((await page.locator('.differences', { hasText: 'memory of a device' }).count()) === 1, 'what was changed');
    await page.screenshot({ path: join(folder, 'compare.png'), fullPage: true });
    await page.getByRole('button', { name: 'Unpin' }).click();
    check((await page.locator('.answer').count()) === 1, 'one column again');
  },

  async 'exports the plan and the report'(page) {
    const save = async (name, button = name) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'), page.getByRole('button', { name: button, exact: true }).click()]);
      check(file.suggestedFilename() === name, 'the name of the file');
      return readFileSync(await file.path(), 'utf8');
    };
    const plan = JSON.parse(await save('plan.json'));
    check(plan.status === 'optimal' && plan.stages.length > 0 && !plan.views, 'the plan');
    const report = await save('report.html');
    check(report.startsWith('<!DOCTYPE html>') && report.includes('llama3.1-70b'), 'the report');
    const launch = await save('megatron-launch.tar', 'Launch files');
    check(launch.includes('megatron-launch/megatron_args.txt') && launch.includes('--tensor-model-parallel-size'),
      'launch files');
    check(/core_v0.19 \(the usual one\).*2026/.test(await page.locator('#tried').innerText()), 'the releases that were tried');
    await page.locator('#target').selectOption('slurm');
    check((await page.locator('#tried').innerText()).startsWith('Tried with Slurm'), 'those of another target');
    check((await save('slurm-launch.tar', 'Launch files')).includes('slurm-launch/run.sbatch'), 'launch files of Slurm');
  },

  async 'a link brings everything back'(page, browser) {
    await page.getByLabel('Name').first().fill('llama3.1-8b');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(200);
    await planned(page);
    await slider(page, 'Devices').focus();
    await press(page, 'ArrowLeft', 4);
    await page.getByRole('button', { name: 'Pin this plan' }).click();
    await page.getByLabel('tensor', { exact: true }).fill('4');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    await page.getByRole('tab', { name: 'Memory' }).click();
    const [degrees, first] = [await page.locator('.degrees').nth(1).innerText(), await tokens(page, 0)];
    check(degrees.includes('tensor 4'), 'the choice is kept');
    const other = await openPage(browser, page.url());
    check((await other.page.locator('.degrees').nth(1).innerText()) === degrees, 'the plan');
    const again = await tokens(other.page, 0);
    check(again === first, `the pinned plan: ${again} tokens/s, not ${first}`);
    check((await other.page.getByLabel('Name').first().inputValue()) === 'llama3.1-8b', 'the model');
    check((await other.page.getByRole('tab', { selected: true }).innerText()) === 'Memory', 'the view');
    check(other.errors.length === 0, other.errors.join('\n'));
    await other.close();
  },

  async 'finds a model by its name on the Hub'(page) {
    await page.getByLabel('Name').first().fill('meta-llama/Llama-3.1-8B');
    await page.keyboard.press('Enter');
    await page.locator('.answer h2', { hasText: 'llama3.1-8b on' }).waitFor();
    await planned(page);
    check(await page.locator('#problem').isHidden(), await page.locator('#problem').innerText());
    check((await page.getByLabel('Name').first().inputValue()) === 'meta-llama/Llama-3.1-8B', 'what was typed');
  },

  async 'an error leaves nothing of the former plan to export'(page, _browser, errors) {
    await page.getByLabel('tensor', { exact: true }).fill('2..x');
    await page.keyboard.press('Enter');
    await page.locator('#problem').waitFor();
    for (const name of ['plan.json', 'report.html', 'Launch files', 'Pin this plan'])
      check(await page.getByRole('button', { name, exact: true }).isDisabled(), `${name} still works`);
    check((await page.locator('.answer').count()) === 0, 'the former plan is gone');
    check((await page.getByLabel('tensor', { exact: true }).inputValue()) === '2..x', 'what was typed');
    check((await page.locator('.wrong').count()) === 1, 'beside the box');
    errors.splice(0); // the browser notes every answer that is no 2xx
    await page.getByLabel('tensor', { exact: true }).fill('4');
    await page.keyboard.press('Enter');
    await page.locator('.answer', { hasText: 'tensor 4' }).waitFor();
    await planned(page);
    check((await page.locator('.wrong').count()) === 0, 'nothing is wrong any more');
    check(await page.getByRole('button', { name: 'plan.json' }).isEnabled(), 'exports work again');
  },

  async 'says what is wrong with a number, and keeps it'(page) {
    const box = page.getByLabel('Devices in');
    const before = await tokens(page);
    for (const [typed, said] of [['many', 'not a number'], ['12.5', 'whole number'], ['-4', 'at least 1'], ['', 'is expected']]) {
      await box.fill(typed);
      await page.keyboard.press('Enter');
      check((await page.locator('.wrong').innerText()).includes(said), `nothing is said of ${typed}`);
      check((await box.inputValue()) === typed, `${typed} snapped back`);
      check((await box.getAttribute('aria-invalid')) === 'true', 'screen readers hear it');
    }
    check(await tokens(page) === before, 'the question is as it was');
    await box.fill('512');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    check((await page.locator('.wrong').count()) === 0 && (await figure(page, 'devices')).includes('of 512'), 'and goes on');
  },

  async 'marks figures of a former question at once, and bounds the new one'(page) {
    await page.getByLabel('Name').first().fill('deepseek-v3');
    await page.evaluate(() => {
      globalThis.seen = [];
      const look = () => {
        const card = document.querySelector('.answer:last-child');
        globalThis.seen.push({ former: card?.classList.contains('former') ?? false,
          coarse: document.querySelector('.coarse')?.textContent ?? '', title: card?.querySelector('h2')?.textContent ?? '',
          enabled: !document.querySelector('.exports button').disabled, working: document.getElementById('working').textContent });
        requestAnimationFrame(look);
      };
      look();
    });
    await page.keyboard.press('Enter');
    await page.waitForTimeout(200);
    await planned(page);
    const seen = await page.evaluate(() => globalThis.seen);
    const waiting = seen.filter((s) => s.former);
    check(waiting.length > 5, 'figures are never marked as those of a former question');
    check(waiting.every((s) => !s.enabled), 'a former plan could be exported');
    check(waiting.some((s) => s.coarse.includes('to') || s.coarse.includes('over')), 'no bound was shown');
    check(!seen.some((s) => s.title.includes('No plan') && s.working.includes('best')), 'no plan, beside the best');
    check((await page.locator('.answer.former, .coarse').count()) === 0, 'the answer is not marked');
  },

  async 'opens an alternative in full, and the best again'(page) {
    await page.getByRole('tab', { name: 'Alternatives' }).click();
    await page.locator('#panel tbody tr').nth(2).waitFor({ timeout: 20_000 });
    await planned(page);
    const best = await page.locator('.degrees').innerText();
    await page.getByRole('button', { name: 'show plan 2 in full' }).click();
    await page.locator('.answer h2', { hasText: 'Alternative 2' }).waitFor();
    const other = await page.locator('.degrees').innerText();
    check(other !== best, 'it is another plan');
    check((await page.locator('#panel tr[aria-current]').innerText()).startsWith('2'), 'the table says which');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    check((await page.locator('#panel canvas').count()) === 1, 'its views');
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'plan.json' }).click()]);
    const plan = JSON.parse(readFileSync(await file.path(), 'utf8'));
    check(other.includes(`data ${plan.parallelism.data}`), 'the export is the plan that is shown');
    await page.screenshot({ path: join(folder, 'alternative.png') });
    await page.getByRole('button', { name: 'Back to the best plan' }).click();
    check((await page.locator('.degrees').innerText()) === best, 'the best again');
  },

  async 'undoes and redoes changes'(page) {
    const undo = page.getByRole('button', { name: 'Undo', exact: true });
    const redo = page.getByRole('button', { name: 'Redo', exact: true });
    check(await undo.isDisabled() && await redo.isDisabled(), 'nothing to undo');
    await slider(page, 'Global batch').focus();
    await press(page, 'ArrowRight', 2);
    await page.locator('#cluster').selectOption('dgx-h100-superpod');
    await page.locator('.answer h2', { hasText: 'dgx-h100-superpod' }).waitFor();
    await planned(page);
    await undo.click();
    await page.locator('.answer h2', { hasText: 'h100-spine-leaf' }).waitFor();
    await planned(page);
    check((await page.getByLabel('Global batch in').inputValue()) === '4,096', 'the change before stays');
    await page.locator('body').press('Control+z');
    await page.locator('.answer:not(.former)', { hasText: 'global batch 1,024' }).waitFor();
    check(await undo.isDisabled(), 'all is undone: two steps of the slider are one change');
    await planned(page);
    await redo.click();
    await page.locator('.answer:not(.former)', { hasText: 'global batch 4,096' }).waitFor();
    await planned(page);
    await page.goForward();
    await page.locator('.answer:not(.former) h2', { hasText: 'dgx-h100-superpod' }).waitFor();
    check(await redo.isDisabled(), 'all is redone');
    await planned(page);
  },

  async 'changes oversubscription, recipe and optimizer'(page) {
    await page.locator('#controls').getByText('Oversubscription', { exact: true }).click();
    await page.getByLabel('spine in : 1').fill('16');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    await page.getByRole('tab', { name: 'Inputs' }).click();
    check((await page.locator('#panel').textContent()).includes('"oversubscription": 16'), 'the cluster has it');
    await page.locator('#recipe').selectOption('torchtitan');
    await page.locator('#optimizer').selectOption('sgd');
    await page.locator('.answer:not(.former)', { hasText: 'sgd' }).waitFor();
    await planned(page);
  },

  async 'a long step shows its two ends'(page) {
    await page.getByLabel('Global batch in').fill('16384');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    check((await page.locator('#panel .nest-hint').innerText()).includes('is left out'), 'all of it is shown');
    await page.getByRole('button', { name: 'show the whole step' }).click();
    await page.waitForTimeout(60);
    check(!(await page.locator('#panel .nest-hint').innerText()).includes('is left out'), 'the whole step');
    await page.getByRole('button', { name: 'show the beginning and the end of a long step' }).click();
    await page.waitForTimeout(60);
    check((await page.locator('#panel .nest-hint').innerText()).includes('is left out'), 'its ends again');
  },

  async 'on a phone the result is in sight'(page) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForTimeout(100);
    const figures = await page.locator('.figures').boundingBox();
    check(figures.y + figures.height < 844, `the figures end at ${figures.y + figures.height}`);
    const tabs = await page.locator('#tabs').boundingBox();
    check(tabs.y < 844, `the views begin at ${tabs.y}`);
    check(await page.locator('#controls').isHidden(), 'the question is folded');
    await page.locator('#fold').click();
    check(await page.locator('#controls').isVisible(), 'and unfolds');
    await page.getByLabel('Devices in').fill('512');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    await page.locator('#fold').click();
    check((await figure(page, 'devices')).includes('of 512'), 'and is asked');
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await page.waitForTimeout(60);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(wide <= 390, `${await tab.innerText()} is ${wide} wide`);
    }
    await page.getByRole('button', { name: 'Export' }).click();
    check(await page.getByRole('button', { name: 'plan.json' }).isVisible(), 'exports unfold');
  },

  async 'takes a pasted cluster, and tells the line of an error'(page, _browser, errors) {
    const text = 'name: mine\naccelerator: h100-sxm\nlevels:\n' +
      '  - {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n' +
      '  - {name: rack, sise: 4, bandwidth: 50 GB/s, latency: 5 us}\n';
    await page.getByText('Paste a cluster file').click();
    const area = page.getByLabel('Text of a cluster file');
    await area.fill(text);
    await page.keyboard.press('Control+Enter');
    await page.locator('#problem').waitFor();
    check((await page.locator('#problem').innerText()).includes('line 5'), 'the line');
    await page.screenshot({ path: join(folder, 'problem.png') });
    errors.splice(0); // the browser notes every answer that is no 2xx
    await area.fill(text.replace('sise', 'size'));
    await page.keyboard.press('Control+Enter');
    await page.locator('.answer h2', { hasText: 'on mine' }).waitFor();
    await planned(page);
    check((await figure(page, 'devices')).startsWith('32'), 'its devices');
    check(await slider(page, 'rack bandwidth').isVisible(), 'its levels');
  },

  async 'works with the keyboard alone'(page) {
    await page.locator('body').focus();
    const reached = new Set();
    for (let i = 0; i < 80; ++i) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => {
        const at = document.activeElement;
        const name = at?.getAttribute('aria-label') ?? at?.id ?? '';
        const box = at?.getBoundingClientRect();
        if (at && at !== document.body && (!box || box.width === 0)) return `hidden: ${name}`;
        return name || at?.textContent || at?.tagName || '';
      }));
    }
    for (const name of ['model', 'cluster', 'Devices', 'Memory', 'node bandwidth', 'Global batch', 'recipe',
      'choice-tensor', 'Pin this plan', 'Copy link', 'tab-placement', 'panel']) {
      check(reached.has(name), `${name} is not reached with Tab`);
    }
    check(![...reached].some((name) => name.startsWith('hidden')), [...reached].join(', '));
    await page.locator('#tab-placement').focus();
    await page.keyboard.press('ArrowRight');
    check((await page.getByRole('tab', { selected: true }).innerText()) === 'Timeline', 'arrows go from tab to tab');
    await page.keyboard.press('End');
    check((await page.getByRole('tab', { selected: true }).innerText()) === 'Inputs', 'End goes to the last tab');
    const range = slider(page, 'Global batch');
    await range.focus();
    await press(page, 'ArrowRight', 1);
    check((await range.getAttribute('aria-valuetext')) === '2,048 seqs', 'arrows move sliders');
    check((await page.locator('.answer').innerText()).includes('global batch 2,048'), 'and plan');
    const outline = await range.evaluate((node) => getComputedStyle(node).outlineStyle);
    check(outline !== 'none', 'the focus shows');
  },

  async 'every control has a name'(page) {
    const nameless = await page.evaluate(() => [...document.querySelectorAll('input, select, textarea, button, canvas')]
      .filter((node) => !(node.getAttribute('aria-label') || node.labels?.length || node.textContent?.trim()))
      .map((node) => node.outerHTML.slice(0, 100)));
    check(nameless.length === 0, nameless.join('\n'));
  },

  async 'dark, and narrow'(page) {
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.getByRole('tab', { name: 'Memory' }).click();
    await page.waitForTimeout(100);
    await page.screenshot({ path: join(folder, 'dark.png') });
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check(colour === 'rgb(19, 20, 23)', `the page is ${colour}`);
    await page.setViewportSize({ width: 400, height: 850 });
    await page.waitForTimeout(100);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 400, `the page is ${wide} wide`);
    await page.screenshot({ path: join(folder, 'narrow.png'), fullPage: true });
  },
};

const server = await startServer(nest);
const browser = await startBrowser();
let [passed, failed] = [0, 0];
for (const [name, step] of Object.entries(steps)) {
  const began = performance.now();
  let opened;
  try {
    opened = await openPage(browser, server.address);
    await step(opened.page, browser, opened.errors);
    check(opened.errors.length === 0, `on the console: ${opened.errors.join('\n')}`);
    ++passed;
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name}: ${error.message}`);
    await opened?.page.screenshot({ path: join(folder, `failed-${failed}.png`) });
  }
  await opened?.close();
  console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
await browser.close();
if ((await server.stop()) !== 0) {
  console.log('FAILED: the server did not end cleanly');
  ++failed;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
