// What the end-to-end tests and the makers of pictures share: a server of the program under test, and a headless
// Chromium that tells of every error on the page's console.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');
const kBrowsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

// {address, stop}: `nest serve` at a port of its own.
export async function startServer(nest, words = []) {
  const port = words.includes('--port') ? [] : ['--port', '0'];
  const child = spawn(nest, ['serve', ...port, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([new Promise((resolve) => lines.once('line', resolve)), ended]);
  const address = /http:\/\/[^\s/]+/.exec(String(first))?.[0];
  if (!address) throw new Error(`nest serve said: ${first}`);
  const stop = async () => {
    child.kill('SIGINT');
    return ended;
  };
  return { address, stop, line: String(first) };
}

export async function startBrowser() {
  const program = process.env.NEST_CHROMIUM ?? kBrowsers.find((path) => existsSync(path));
  if (!program) throw new Error('no Chromium: install the package chromium');
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
}

// A page that keeps what went wrong on it.
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 950 }, colorScheme: 'light', acceptDownloads: true, ...options,
  });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('requestfailed', (request) => {
    // Plans that nobody wants any more are given up: that is no error.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') errors.push(`${request.url()} failed`);
  });
  await page.goto(address);
  await planned(page);
  return { page, errors, close: () => context.close() };
}

// Waits until nothing is searched.
export async function planned(page) {
  await page.waitForFunction(() => !document.body.classList.contains('busy') &&
    !document.body.classList.contains('asking') &&
    document.querySelector('.answer, #problem:not([hidden])') !== null, undefined, { timeout: 60_000 });
}
