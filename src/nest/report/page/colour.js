// Colours that stay apart for people who see fewer of them (Okabe and Ito's, Tol's), and scales of many steps.

const kApart = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#999933', '#882255'];
// Like viridis, without its lightest end and with a lighter dark one, so that it shows on white and on black.
const kRamp = ['#6b4fa0', '#4f5d9e', '#3a6f97', '#26828e', '#1f9e89', '#35b779', '#6dcd59', '#b4de2c'];

export const kPartColours = {
  compute: '#0072b2', forward: '#0072b2', backward: '#009e73', weight: '#56b4e9', recompute: '#882255',
  tensor: '#e69f00', expert: '#d55e00', context: '#cc79a7', pipeline: '#56b4e9', receive: '#cc79a7',
  bubble: '#a8a8a8', data: '#117733', zero: '#999933', optimizer: '#ddcc77', reduce: '#d55e00',
  gather: '#e69f00', norm: '#8a8a8a', offload: '#44aa99', 'to host': '#44aa99', 'host update': '#ddcc77',
  'from host': '#6699cc', 'background receive': '#cc79a7',
  weights: '#0072b2', gradients: '#009e73', activations: '#cc79a7', workspace: '#56b4e9',
  fragmentation: '#d55e00', reserve: '#a8a8a8',
};

export function parseColour(text) {
  const hex = /^#([0-9a-f]{6})$/i.exec(text.trim());
  if (hex) return [0, 2, 4].map((i) => parseInt(hex[1].slice(i, i + 2), 16));
  const numbers = text.match(/[\d.]+/g);
  return numbers && numbers.length >= 3 ? numbers.slice(0, 3).map(Number) : [0, 0, 0];
}

function toHex(rgb) {
  return `#${rgb.map((v) => Math.round(Math.max(0, Math.min(255, v))).toString(16).padStart(2, '0')).join('')}`;
}

// `share` of the way from a to b.
export function mixColours(a, b, share) {
  const [from, to] = [parseColour(a), parseColour(b)];
  return toHex(from.map((v, i) => v + (to[i] - v) * share));
}

// Relative luminance, 0 to 1 (WCAG).
export function luminance(colour) {
  const [r, g, b] = parseColour(colour).map((v) => {
    const s = v / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Black or white, whichever is read more easily on a colour.
export function inkOn(colour) {
  return luminance(colour) > 0.179 ? '#000000' : '#ffffff';
}

export function rampColour(share) {
  const at = Math.max(0, Math.min(1, share)) * (kRamp.length - 1);
  const i = Math.min(kRamp.length - 2, Math.floor(at));
  return mixColours(kRamp[i], kRamp[i + 1], at - i);
}

// For gradients.
export const kRampColours = Array.from({ length: 9 }, (_, i) => rampColour(i / 8));

// Colours of `count` things in order: apart where they are few, along a scale where they are many, every second
// a little lighter so that neighbours differ.
export function colourList(count) {
  if (count <= kApart.length) return kApart.slice(0, Math.max(0, count));
  return Array.from({ length: count }, (_, i) => {
    const colour = rampColour(i / (count - 1));
    return i % 2 === 1 && count <= 64 ? mixColours(colour, '#ffffff', 0.25) : colour;
  });
}
