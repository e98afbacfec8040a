// Put into a copy of a report by tests/page/smoke: uses every view as a reader would, and says in the page's
// data-smoke what came of it.
const problems = [];
const expect = (what, good) => {
  if (!good) problems.push(what);
};
addEventListener('error', (event) => problems.push(event.message));
const key = (node, name) => node.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
// After the views have drawn what was asked of them.
const frame = () => new Promise((done) => {
  requestAnimationFrame(() => setTimeout(done, 5));
});
const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const inked = (canvas) => {
  copy.canvas.width = canvas.width;
  copy.canvas.height = canvas.height;
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 3; i < data.length; i += 4) count += data[i] > 0 ? 1 : 0;
  return count / (data.length / 4);
};

for (const id of ['map', 'timeline']) {
  const view = document.getElementById(id);
  const canvas = view.querySelector('canvas');
  const tip = view.querySelector('.nest-tip');
  const live = view.querySelector('[aria-live]');
  if (!canvas) {
    expect(`${id} says why it is empty`, view.textContent.includes('not simulated'));
    continue;
  }
  expect(`${id} is drawn`, inked(canvas) > 0.05);
  const before = canvas.toDataURL();
  for (const name of ['ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'PageDown', 'End', 'Home', '+', '+']) key(canvas, name);
  await frame();
  expect(`${id} tells the keyboard's place`, !tip.hidden && live.textContent.length > 10);
  expect(`${id} is drawn when near`, inked(canvas) > 0.05);
  expect(`${id} has changed when near`, canvas.toDataURL() !== before);
  key(canvas, '0');
  key(canvas, 'Escape');
  await frame();
  expect(`${id} is as before when far`, canvas.toDataURL() === before);
  expect(`${id} hides its tip`, tip.hidden);
  const box = canvas.getBoundingClientRect();
  const at = (x, y) => ({ clientX: box.left + box.width * x, clientY: box.top + box.height * y, bubbles: true,
    pointerId: 1, button: 0 });
  let told = 0;
  for (let i = 1; i < 400; ++i) {
    canvas.dispatchEvent(new PointerEvent('pointermove', at((i % 20) / 20, i / 400)));
    told += tip.hidden ? 0 : 1;
  }
  expect(`${id} tells what the pointer is at`, told > 0);
  canvas.dispatchEvent(new WheelEvent('wheel', { ...at(0.5, 0.5), deltaY: -400, ctrlKey: true, cancelable: true }));
  canvas.dispatchEvent(new PointerEvent('pointerdown', at(0.5, 0.5)));
  canvas.dispatchEvent(new PointerEvent('pointermove', at(0.4, 0.5)));
  canvas.dispatchEvent(new PointerEvent('pointerup', at(0.4, 0.5)));
  canvas.dispatchEvent(new PointerEvent('pointerleave', at(0.4, 0.5)));
  await frame();
  for (const button of view.querySelectorAll('button')) button.click();
  await frame();
  expect(`${id} is drawn after all that`, inked(canvas) > 0.02);
}

const select = document.querySelector('#map select');
for (let i = 0; i < select.options.length; ++i) {
  select.selectedIndex = i;
  select.dispatchEvent(new Event('change'));
  await frame();
  expect(`coloured by ${select.options[i].text}`, inked(document.querySelector('#map canvas')) > 0.05);
}
for (const id of ['time', 'memory', 'held', 'roof', 'traffic', 'change', 'others', 'stages', 'levels', 'inputs']) {
  const view = document.getElementById(id);
  expect(`${id} is not empty`, view.textContent.trim().length > 5);
  const row = view.querySelector('.nest-row');
  if (row) {
    row.focus();
    key(row, 'ArrowDown');
    key(document.activeElement, 'End');
    expect(`${id} has a bar`, view.querySelector('.nest-row rect:not(.nest-band), .nest-row circle') !== null);
  }
}
const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
for (const row of document.querySelectorAll('.nest-row')) {
  const words = [...row.querySelectorAll('text')].filter((text) => text.textContent !== '');
  const boxes = words.map((text) => text.getBoundingClientRect());
  const clash = boxes.findIndex((box, i) => boxes.slice(0, i).some((other) => meets(box, other)));
  expect(`'${words[clash]?.textContent}' lies over other words`, clash < 0);
}
for (const table of document.querySelectorAll('.nest-scroll:not(pre)'))
  expect(`'${table.getAttribute('aria-label')}' is cut off`, innerWidth < 1200 || table.scrollWidth <= table.clientWidth + 1);
expect('nothing is wider than the page', document.documentElement.scrollWidth <= innerWidth + 1);
document.getElementById('theme').click();
await frame();
document.getElementById('theme').click();
dispatchEvent(new Event('beforeprint'));
dispatchEvent(new Event('afterprint'));
await frame();
expect('no image got in', document.querySelector('img, iframe, object, link') === null);
expect('nothing was fetched', performance.getEntriesByType('resource').length === 0);
document.documentElement.dataset.smoke = problems.length === 0 ? 'good' : problems.join(' | ');
