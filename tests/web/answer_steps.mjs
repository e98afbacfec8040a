// The page in a real browser: what answers look like, and what can be done with them. Each step begins on a fresh page; `folder` takes pictures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planned } from './browser.mjs';
import { check, figure, press, slider, tokens } from './helpers.mjs';

export const answerSteps = (folder) => ({
  async 'plans when it opens'(page) {
    check((await page.title()).startsWith('llama3.1-70b on h100-spine-leaf'), 'the title');
    check((await page.locator('.badge').innerText()) === 'optimal', 'the status');
    check(await tokens(page) > 1000, 'tokens a second');
    check((await page.locator('#panel canvas').count()) > 0, 'the placement map');
  },

  async 'every view draws'(page) {
    const tabs = page.getByRole('tab');
    const count = await tabs.count();
    check(count >= 11, 'eleven views');
    for (const width of [1280, 1360]) {
      await page.setViewportSize({ width, height: 900 });
      const rows = await tabs.evaluateAll((all) => new Set(all.map((tab) => tab.offsetTop)).size);
      check(rows === 1, `tabs stand in ${rows} rows at ${width} pixels`);
    }
    await page.setViewportSize({ width: 1440, height: 950 });
    for (let i = 0; i < count; ++i) {
      await tabs.nth(i).click();
      await page.waitForTimeout(60);
      check((await page.locator('#panel .nest-view').first().boundingBox()).height > 40, `view ${i} is empty`);
      const name = (await tabs.nth(i).innerText()).toLowerCase();
      const cut = await page.evaluate(() => [...document.querySelectorAll('#panel .nest-scroll:not(pre), #panel .view')]
        .some((node) => node.scrollWidth > node.clientWidth + 1));
      check(!cut, `${name} is cut off on a wide screen`);
      await page.screenshot({ path: join(folder, `view-${name}.png`) });
    }
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
    await page.locator('#framework').selectOption('megatron');
    await page.waitForTimeout(150);
    await planned(page);
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

  async 'marks figures of a former question at once, and bounds the new one'(page) {
    const before = await page.locator('.answer h2').innerText();
    await page.evaluate(() => {
      globalThis.seen = [];
      const look = () => {
        const card = document.querySelector('.answer:last-child');
        globalThis.seen.push({ former: card?.classList.contains('former') ?? false, title: card?.querySelector('h2')?.textContent ?? '',
          searching: card?.classList.contains('searching') ?? false,
          figures: [...card?.querySelectorAll('dd') ?? []].map((dd) => dd.firstChild?.textContent ?? ''),
          proof: [...card?.querySelectorAll('.answer > p') ?? []].filter((p) => getComputedStyle(p).visibility === 'visible').map((p) => p.textContent).join(' '),
          enabled: !document.querySelector('.exports button').disabled, working: document.getElementById('working').textContent });
        requestAnimationFrame(look);
      };
      look();
    });
    // Takes seconds: 131,072 devices.
    await page.getByLabel('Name').first().fill('deepseek-v3');
    await page.keyboard.press('Enter');
    await page.locator('#cluster').selectOption('mega-131072');
    await page.locator('.answer.former').waitFor({ timeout: 2000 });
    await page.locator('.coarse').first().waitFor({ timeout: 20_000 });
    check((await page.locator('.answer h2').innerText()).startsWith('deepseek-v3 on mega-131072'), 'the title is that of the question');
    check(/^(over|under) |to /.test(await page.locator('.coarse').first().innerText()), 'a bound or a range');
    const seen = await page.evaluate(() => globalThis.seen);
    check(seen.every((s) => !s.former || !s.enabled), 'a former plan could be exported');
    check(!seen.some((s) => s.title.includes('No plan')), 'no plan, while it is looked for');
    // Under the title of the new question there is nothing of the former one.
    const waiting = seen.filter((s) => s.title.startsWith('deepseek-v3 on mega') && s.searching);
    check(waiting.length > 0, 'the former answer made no room');
    check(waiting.every((s) => s.proof.trim() === ''), 'sentences of the former answer');
    for (const { figures } of waiting)
      check(figures.every((text) => text === '...' || /^(over|under) | to /.test(text)), `figures of the former answer: ${figures}`);
    await page.screenshot({ path: join(folder, 'searching.png') });
    await page.locator('#cluster').selectOption('h100-spine-leaf');
    await page.getByLabel('Name').first().fill('llama3.1-70b');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(200);
    await planned(page);
    check((await page.locator('.answer h2').innerText()) === before, 'as before');
    check((await page.locator('.answer.former, .coarse').count()) === 0, 'the answer is not marked');
  },

  // A moment is too short for it: what that finds is shown as such, and what stays is what a patient question is answered with.
  async 'the clock does not decide which plan is shown'(page) {
    await page.evaluate(() => {
      globalThis.badges = new Set();
      const look = () => {
        const badge = document.querySelector('.answer:not(.former) .badge');
        if (badge) globalThis.badges.add(`${badge.textContent}${document.body.classList.contains('busy') ? '' : ' at rest'}`);
        requestAnimationFrame(look);
      };
      look();
    });
    await page.getByLabel('Name').first().fill('llama3.1-8b');
    await page.keyboard.press('Enter');
    await page.locator('#cluster').selectOption('mega-131072');
    await page.locator('.answer:not(.former) h2', { hasText: 'llama3.1-8b on mega-131072' }).waitFor({ timeout: 30_000 });
    await planned(page);
    const patient = await page.evaluate(async () => (await fetch('/api/v1/plan', { method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'llama3.1-8b', cluster: 'mega-131072', global_batch: 1024, runners_up: 3, views: true }) })).json());
    check(patient.status === 'optimal' && !patient.further_stopped, 'a machine too slow to say anything');
    check((await page.locator('.degrees').innerText()) === patient.views.degrees, 'another plan');
    const badges = await page.evaluate(() => [...globalThis.badges]);
    check(!badges.includes('not final at rest'), badges.join(', '));
  },

  async 'opens an alternative in full, and the best again'(page) {
    await page.getByRole('tab', { name: 'Alternatives' }).click();
    await page.locator('#panel tbody tr').nth(2).waitFor({ timeout: 20_000 });
    const best = await page.locator('.degrees').innerText();
    await page.getByRole('button', { name: 'show plan 2 in full' }).click();
    await page.locator('.answer h2', { hasText: 'Number 2' }).waitFor();
    const other = await page.locator('.degrees').innerText();
    check(other !== best, 'it is another plan');
    check((await page.locator('#panel tr[aria-current]').innerText()).startsWith('2'), 'the table says which');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    check((await page.locator('#panel canvas').count()) === 1, 'its views');
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'plan.json' }).click()]);
    const plan = JSON.parse(readFileSync(await file.path(), 'utf8'));
    check(other.includes(`data ${plan.parallelism.data}`), 'the export is the plan that is shown');
    await page.screenshot({ path: join(folder, 'alternative.png') });
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    check((await page.locator('.degrees').innerText()) === best, 'the best again');
  },

  async 'a simpler plan stands above the strict optimum, and near ties are named'(page) {
    await page.getByLabel('Devices in').fill('64');
    await page.keyboard.press('Enter');
    await page.getByLabel('Global batch in').fill('128');
    await page.keyboard.press('Enter');
    await page.locator('.answer:not(.former)', { hasText: 'global batch 128' }).waitFor();
    await planned(page);
    check(/^optimal within 0\.\d %$/.test(await page.locator('.badge').innerText()), await page.locator('.badge').innerText());
    const card = await page.locator('.answer').innerText();
    check(card.includes('longer than the best plan') && !card.includes('--'), 'why it is above the bound, in words of the page');
    check(/fits with \d/.test(card) && (card.match(/fits with/g) ?? []).length === 1, 'how surely it fits, once');
    check(/80 %: \S+ GiB to \S+ GiB/.test(card.replaceAll('\u00a0', ' ')), 'the interval of memory');
    check(/2 GiB reserve; \S+ GiB margin/.test(card.replaceAll('\u00a0', ' ')), 'reserve and margin');
    await page.getByRole('tab', { name: 'Alternatives' }).click();
    const rows = await page.locator('#panel tbody tr').allInnerTexts();
    const cells = rows.map((row) => row.split('\t').map((text) => text.trim()));
    check(cells[0][0] === 'taken' && cells[1][0] === 'best' && cells[2][0] === '2', rows.join('\n'));
    check(cells[0][2].startsWith('+0.') && cells[1][2] === '' && cells.slice(2).every((row) => !row[2].startsWith('-')), 'all are compared with the best');
    check(cells[0][3] === 'near tie' && cells[1][3] === '' && cells[2][3] === 'near tie', 'near ties');
    check(new Set(rows.map((row) => row.split('\t').slice(4).join())).size === rows.length, 'a plan stands twice');
    const shown = async () => (await page.locator('#panel').innerText()) + (await page.locator('.degrees').innerText());
    await page.getByRole('tab', { name: 'Memory' }).click();
    const taken = await shown();
    await page.getByRole('button', { name: 'Show the best' }).click();
    await page.locator('.answer h2', { hasText: 'The best: ' }).waitFor();
    check((await shown()) !== taken, 'another plan');
    check((await page.locator('.badge').innerText()) === 'optimal', 'which is proved');
    await page.screenshot({ path: join(folder, 'near-tie.png') });
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    check((await shown()) === taken, 'and back');
    const legend = await page.locator('#panel .nest-legend').first().innerText();
    check(legend.includes('reserve') && legend.includes('margin'), 'apart from what is used');
  },

  async 'says what more of each thing would buy'(page) {
    await page.getByLabel('Name').first().fill('llama3.1-8b');
    await page.keyboard.press('Enter');
    await page.locator('.answer:not(.former) h2', { hasText: 'llama3.1-8b' }).waitFor();
    await page.getByRole('tab', { name: 'Shadow prices' }).click();
    await page.locator('#panel .nest-row').first().waitFor({ timeout: 30_000 });
    const text = await page.locator('#panel').textContent();
    check(text.includes('more memory') && text.includes('more bandwidth'), 'memory and bandwidth');
  },

  async 'a long step shows its two ends'(page) {
    await page.getByLabel('Global batch in').fill('16384');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(150);
    await planned(page);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    check((await page.locator('#panel .nest-hint').innerText()).includes('is left out'), 'all of it is shown');
    check((await page.locator('#panel .nest-hint').innerText()).includes('waiting for the slowest'), 'what the end of the step is');
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
});
