// What the steps of the end-to-end tests share.
import { planned } from './browser.mjs';

export function check(holds, what) {
  if (!holds) throw new Error(what);
}

export const slider = (page, name) => page.getByRole('slider', { name, exact: true });
export const figure = (page, name, column = 0) =>
  page.locator('.answer').nth(column).locator('.figures div', { hasText: name }).locator('dd').innerText();
export const tokens = async (page, column = 0) => Number((await figure(page, 'tokens a second', column)).replaceAll(',', ''));

export async function press(page, key, times) {
  for (let i = 0; i < times; ++i) await page.keyboard.press(key);
  await page.waitForTimeout(120);
  await planned(page);
}
