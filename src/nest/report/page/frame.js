// What all views share: an element that is filled, drawn again when its width, the theme or the paper changes,
// and emptied; tooltips, legends, buttons, and gestures on a canvas. Strings only ever become text.
import { luminance, mixColours } from './colour.js';

const kMounted = new Map();  // element -> frame
export const kNarrow = 560;  // pixels of a view on a phone
const kPaperWidth = 690;  // pixels that fit on A4 and on letter paper
let printing = false;

export function make(tag, attributes = {}, ...children) {
  return fillNode(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return fillNode(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fillNode(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function themeOf(element) {
  const ink = getComputedStyle(element).color;
  const dark = !printing && luminance(ink) > 0.4;
  const [text, surface] = dark ? ['#e8e8e8', '#1b1d21'] : ['#1c1c1c', '#ffffff'];
  const shade = (share) => mixColours(surface, text, share);
  return { dark, ink: text, surface, quiet: shade(0.6), line: shade(0.35), grid: shade(0.12), idle: shade(0.08) };
}

// Takes an element over: `setup(frame)` adds what stays and returns what draws. Called again for an element, it
// starts anew. Returns the handle that callers of views get.
export function mount(element, setup) {
  kMounted.get(element)?.destroy();
  element.replaceChildren();
  element.classList.add('nest-view');
  const frame = { element, width: 0, theme: null, alive: true };
  let queued = false;
  let draw = null;
  const now = () => {
    queued = false;
    if (!frame.alive) return;
    frame.theme = themeOf(element);
    frame.width = Math.floor(printing ? Math.min(kPaperWidth, element.clientWidth) : element.clientWidth);
    if (frame.width > 0) draw();
  };
  frame.now = now;
  frame.redraw = () => {
    if (!queued) requestAnimationFrame(now);
    queued = true;
  };
  const observer = new ResizeObserver(() => {
    if (Math.floor(element.clientWidth) !== frame.width) frame.redraw();
  });
  frame.destroy = () => {
    frame.alive = false;
    observer.disconnect();
    kMounted.delete(element);
    element.replaceChildren();
  };
  frame.tip = makeTip(frame);
  draw = setup(frame);
  element.append(frame.tip.node, frame.tip.live);
  kMounted.set(element, frame);
  observer.observe(element);
  listenOnce();
  now();
  return { redraw: frame.redraw, destroy: frame.destroy };
}

// Draws every view again: after a change of theme that the browser does not tell of.
export function redrawViews() {
  for (const frame of kMounted.values()) frame.redraw();
}

let listening = false;
function listenOnce() {
  if (listening) return;
  listening = true;
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawViews);
  const print = (on) => () => {
    printing = on;
    for (const frame of kMounted.values()) frame.now();
  };
  addEventListener('beforeprint', print(true));
  addEventListener('afterprint', print(false));
}

// A box beside the pointer, or beside what the keyboard is at; `live` tells screen readers the same.
function makeTip(frame) {
  const node = make('div', { class: 'nest-tip', hidden: '' });
  const live = make('div', { class: 'nest-hidden', 'aria-live': 'polite' });
  const place = (x, y) => {
    const box = node.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth ? Math.max(4, x - 14 - box.width) : x + 14;
    const top = y + 14 + box.height > innerHeight ? Math.max(4, y - 10 - box.height) : y + 14;
    node.style.left = `${left}px`;
    node.style.top = `${top}px`;
  };
  return {
    node,
    live,
    show(lines, x, y, speak = false) {
      node.replaceChildren(...lines.map((line, i) => make(i === 0 ? 'strong' : 'div', {}, line)));
      node.hidden = false;
      place(x, y);
      if (speak) live.textContent = lines.join('; ');
    },
    hide() {
      node.hidden = true;
    },
  };
}

let measuring = null;
// Pixels that a text takes in the charts' font.
export function textWidth(text, size = 13) {
  measuring ??= document.createElement('canvas').getContext('2d');
  measuring.font = `${size}px system-ui, sans-serif`;
  return measuring.measureText(text).width;
}

// [{label, colour}] as a row of chips; an item may have several `colours`, or stand for an `empty` box.
export function legend(items) {
  return make('ul', { class: 'nest-legend' }, ...items.map((item) => {
    const chips = (item.colours ?? [item.colour]).map((colour) => {
      const chip = make('span', { class: item.empty ? 'nest-chip nest-empty' : 'nest-chip' });
      if (!item.empty) chip.style.background = colour;
      return chip;
    });
    return make('li', {}, ...chips, item.label);
  }));
}

// Above a canvas, or below it on a phone, where the picture comes first.
export function placeLegend(frame, canvas, node) {
  node.className = frame.width < kNarrow ? 'nest-below' : '';
  if (frame.width < kNarrow) canvas.after(node);
  else canvas.before(node);
}

// A scale of colours between two texts.
export function rampLegend(from, colours, to) {
  const bar = make('span', { class: 'nest-ramp' });
  bar.style.background = `linear-gradient(to right, ${colours.join(', ')})`;
  return make('span', { class: 'nest-legend' }, from, bar, to);
}

export function button(text, label, press) {
  return make('button', { type: 'button', class: 'nest-button', 'aria-label': label, title: label, onclick: press },
    text);
}

// A canvas as wide as its view, sharp on any screen. `fit(width, height)` gives its context.
export function makeCanvas(label) {
  const node = make('canvas', { class: 'nest-canvas', tabindex: '0', role: 'application', 'aria-label': label });
  const fit = (width, height) => {
    const ratio = Math.min(3, Math.max(printing ? 2 : 1, globalThis.devicePixelRatio || 1));
    node.width = Math.round(width * ratio);
    node.height = Math.round(height * ratio);
    node.style.width = `${width}px`;
    node.style.height = `${height}px`;
    const context = node.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  };
  return { node, fit };
}

// Wheel with Ctrl, pinch and double click zoom; dragging and sideways wheels pan; pointers hover.
export function listenGestures(canvas, to) {
  const pointers = new Map();
  let moved = 0;
  const local = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener('wheel', (event) => {
    const [x, y] = local(event);
    if (event.ctrlKey || event.metaKey) to.zoom(x, y, Math.exp(-event.deltaY * 0.004));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && to.zoomed()) to.pan(-event.deltaX, 0);
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, local(event));
    moved = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = local(event);
    const before = pointers.get(event.pointerId);
    if (!before) return to.hover(x, y, event);
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    if (others.length === 1) {
      const [ox, oy] = others[0];
      const apart = (at) => Math.max(20, Math.hypot(at[0] - ox, at[1] - oy));
      to.zoom((x + ox) / 2, (y + oy) / 2, apart([x, y]) / apart(before));
    } else if (to.zoomed()) {
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      if (moved > 4 && !canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
      to.pan(x - before[0], y - before[1]);
    }
    pointers.set(event.pointerId, [x, y]);
    return undefined;
  });
  const release = (event) => pointers.delete(event.pointerId);
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', (event) => {
    release(event);
    to.leave();
  });
  canvas.addEventListener('dblclick', (event) => to.zoom(...local(event), 2));
  canvas.addEventListener('blur', () => to.leave());
}
