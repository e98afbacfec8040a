// The web application in a real browser: node e2e.mjs [NEST] [FOLDER FOR SCREENSHOTS] [PART OF A STEP'S NAME]. Each step
// begins on a fresh page and fails where the console has an error. The last line is "N passed, N failed".
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { answerSteps } from './answer_steps.mjs';
import { openPage, root, startBrowser, startServer } from './browser.mjs';
import { fileSteps } from './file_steps.mjs';
import { check } from './helpers.mjs';
import { questionSteps } from './question_steps.mjs';

const [nest = join(root, 'build/nest'), folder = join(root, 'build/web-screenshots'), part = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const steps = Object.entries({ ...answerSteps(folder), ...questionSteps(folder), ...fileSteps(folder) }).filter(([name]) => name.includes(part));

const server = await startServer(nest);
const browser = await startBrowser();
let [passed, failed] = [0, 0];
for (const [name, step] of steps) {
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
