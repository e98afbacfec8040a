// The page in a real browser: how questions are asked, changed and refused. Each step begins on a fresh page; `folder` takes pictures.
import { join } from 'node:path';
import { openPage, planned } from './browser.mjs';
import { check, figure, press, slider, tokens } from './helpers.mjs';

export const questionSteps = (folder) => ({
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

  async 'says beside the name which model there is not'(page, _browser, errors) {
    await page.getByLabel('Name').first().fill('llama3.1-80b');
    await page.keyboard.press('Enter');
    await page.locator('#problem').waitFor();
    check((await page.locator('#problem').innerText()).includes('did you mean'), 'names that are like it');
    check((await page.locator('.wrong').innerText()).includes("no model 'llama3.1-80b'"), 'beside the box');
    check((await page.title()) === 'NEST', 'the title is of no plan');
    errors.splice(0); // the browser notes every answer that is no 2xx
    await page.getByLabel('Name').first().fill('llama3.1-8b');
    await page.keyboard.press('Enter');
    await page.locator('.answer h2', { hasText: 'llama3.1-8b on' }).waitFor();
    await planned(page);
    check((await page.locator('.wrong').count()) === 0, 'nothing is wrong any more');
    await page.getByLabel('Devices in').fill('1000');
    await page.keyboard.press('Enter');
    await page.locator('#problem').waitFor();
    check((await page.locator('.slider', { hasText: 'Devices' }).locator('.wrong').innerText()).includes('do not fit'),
      'devices that the cluster cannot have');
    errors.splice(0);
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

  // A search that runs takes seconds to answer, and tells of its progress meanwhile.
  async 'a refusal ends the search that still runs'(page, _browser, errors) {
    for (const before of [300, 1500, 3500]) {
      await page.locator('#cluster').selectOption('mega-131072');
      await page.getByLabel('Name').first().fill('deepseek-v3');
      await page.keyboard.press('Enter');
      await page.waitForTimeout(before);
      await page.getByLabel('Name').first().fill('nonsense');
      await page.keyboard.press('Enter');
      await page.locator('#problem:not([hidden])').waitFor();
      for (const after of [50, 1000, 2500]) {
        await page.waitForTimeout(after);
        const problem = await page.locator('#problem').innerText();
        check(problem.includes("no model 'nonsense'") && !problem.includes('reached'), `${before} + ${after} ms: ${problem}`);
        check((await page.locator('.wrong').innerText()).includes("no model 'nonsense'"), 'beside the box');
        check((await page.locator('.answer').count()) === 0, `${before} + ${after} ms: an answer is back`);
        check(await page.getByRole('button', { name: 'plan.json' }).isDisabled(), `${before} + ${after} ms: a plan to export`);
        check((await page.title()) === 'NEST', 'the title is of no plan');
        check(!await page.evaluate(() => document.body.matches('.busy, .asking')), 'something is still searched for');
      }
      errors.splice(0); // the browser notes every answer that is no 2xx
    }
    await page.getByLabel('Name').first().fill('llama3.1-8b');
    await page.keyboard.press('Enter');
    await page.locator('#cluster').selectOption('h100-spine-leaf');
    await page.locator('.answer:not(.former) h2', { hasText: 'llama3.1-8b on h100-spine-leaf' }).waitFor();
    await planned(page);
    check(await page.locator('#problem').isHidden(), 'and goes on');
  },

  // The answer to the question before it comes while the one that is refused still waits.
  async 'a refusal is not taken for that of a later turn'(page, _browser, errors) {
    const answered = new Promise((resolve) => {
      void page.route('**/api/v1/plan', async (route) => {
        const response = await route.fetch();
        await new Promise((wait) => { setTimeout(wait, 300); });
        await route.fulfill({ response });
        resolve();
      }, { times: 1 });
    });
    await page.getByLabel('Global batch in').fill('512');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await page.getByLabel('tensor', { exact: true }).fill('2..x');
    await page.keyboard.press('Enter');
    await answered;
    await page.locator('#problem:not([hidden])').waitFor();
    await planned(page);
    check((await page.locator('.answer').count()) === 0, 'the former plan is still there');
    check(await page.getByRole('button', { name: 'plan.json' }).isDisabled(), 'the former plan can be exported');
    errors.splice(0);
  },

  async 'only a connection that fails is called so'(page, _browser, errors) {
    await page.route('**/api/v1/plan', (route) => route.abort('connectionrefused'));
    await page.locator('#optimizer').selectOption('sgd');
    await page.locator('#problem:not([hidden])').waitFor();
    check((await page.locator('#problem').innerText()).includes('the server cannot be reached'), 'no connection');
    await page.unroute('**/api/v1/plan');
    await page.route('**/api/v1/plan', (route) => route.fulfill({ status: 200, contentType: 'text/event-stream', body: 'event: plan\ndata: 5\n\n' }));
    await page.locator('#optimizer').selectOption('adam');
    await page.waitForFunction(() => !document.querySelector('#problem')?.textContent?.includes('reached'));
    await planned(page);
    await page.unroute('**/api/v1/plan');
    errors.splice(0);
    await page.locator('#optimizer').selectOption('sgd');
    await page.locator('.answer:not(.former)', { hasText: 'sgd' }).waitFor();
    await planned(page);
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
    await box.fill('many');
    await page.keyboard.press('Enter');
    await page.locator('#optimizer').selectOption('sgd');
    await page.locator('.answer:not(.former)', { hasText: 'sgd' }).waitFor();
    check((await box.inputValue()) === 'many' && (await page.locator('.wrong').count()) === 1, 'it is still wrong after another change');
    await box.fill('512');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    check((await page.locator('.wrong').count()) === 0 && (await figure(page, 'devices')).includes('of 512'), 'and goes on');
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

  async 'trains adapters, or some layers, and says what is wrong beside its box'(page, _browser, errors) {
    const answer = (text) => page.locator('.answer:not(.former)', { hasText: text });
    const wrong = page.locator('.wrong');
    await page.getByText('Fine-tuning', { exact: true }).click();
    const whole = await page.locator('.answer').innerText();
    await page.getByLabel('Train', { exact: true }).selectOption('lora');
    await answer('trained: lora:16').waitFor();
    await page.getByLabel('Rank').fill('many');
    await page.keyboard.press('Enter');
    check((await wrong.innerText()).includes("'many' is not a rank"), 'a rank in words');
    await page.getByLabel('Rank').fill('8');
    await page.keyboard.press('Enter');
    await answer('trained: lora:8').waitFor();
    await page.getByLabel('Beside').fill('q_proj, v_prj');
    await page.keyboard.press('Enter');
    await page.locator('#problem').waitFor();
    check((await wrong.innerText()).includes('v_prj'), 'what the server says stands beside the box');
    errors.splice(0); // the browser notes every answer that is no 2xx
    await page.getByLabel('Beside').fill('q_proj, v_proj');
    await page.keyboard.press('Enter');
    await answer('trained: lora:8:q_proj+v_proj').waitFor();
    await page.getByLabel('Frozen in').selectOption('4');
    await answer('frozen weights in 4 bits').waitFor();
    await page.screenshot({ path: join(folder, 'fine-tuning.png') });
    await page.getByLabel('Train', { exact: true }).selectOption('layers');
    check((await wrong.innerText()).includes('which layers'), 'layers have to be named');
    await page.getByLabel('Layers').fill('60..');
    await page.keyboard.press('Enter');
    await answer('trained: layers 60..').waitFor();
    await page.getByLabel('Freeze').fill('nose');
    await page.keyboard.press('Enter');
    await page.locator('#problem').waitFor();
    check((await wrong.innerText()).includes("no part 'nose'"), 'a part that is not there');
    errors.splice(0);
    await page.getByLabel('Freeze').fill('');
    await page.keyboard.press('Enter');
    await answer('trained: layers 60..').waitFor();
    check((await wrong.count()) === 0, 'nothing is wrong any more');
    await planned(page);
    check((await page.locator('.answer').innerText()) !== whole, 'another plan');
    await page.goBack();
    await page.goBack();
    await answer('lora:8:q_proj+v_proj').waitFor();
    check((await page.getByLabel('Train', { exact: true }).inputValue()) === 'lora', 'undone in the controls, too');
    check((await page.getByLabel('Rank').inputValue()) === '8', 'with its rank');
    await planned(page);
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
    check((await page.locator('details', { has: area }).locator('.wrong').innerText()).includes('sise'), 'beside the text');
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
});
