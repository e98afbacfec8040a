// Shadow prices: what a little more of each level, of memory and of devices would buy, each by a search of its own.
import { formatChange, formatSeconds } from './format.js';
import { barChart, chartView } from './bars.js';
import { make } from './frame.js';

const kNothing = 5e-4;  // a share of the step

// "nothing", "-4.1 %", or why there is no figure.
export function spellPrice(price) {
  if (price.status === 'infeasible') return 'does not fit';
  if (price.share === undefined || price.share === null) return 'not known';
  const text = Math.abs(price.share) < kNothing ? 'nothing' : formatChange(price.share);
  return price.status === 'feasible' ? `${text}, not proved` : text;
}

// `searching`: the prices are being looked for.
export function shadowBars(element, data, searching = false) {
  return chartView(element, (frame) => {
    const prices = data.shadow_prices ?? [];
    if (prices.length === 0) {
      return [make('p', { class: 'nest-quiet' }, searching ? 'Searching for what more of each thing would buy ...' : 'Nothing was tried.')];
    }
    const shares = prices.map((p) => (Math.abs(p.share ?? 0) < kNothing ? 0 : p.share));
    const [least, most] = [Math.min(0, ...shares), Math.max(0, ...shares)];
    const reach = Math.max(1e-3, -least, most);
    const rows = prices.map((price, i) => ({ label: price.change, text: spellPrice(price), alarm: price.status === 'infeasible',
      parts: [{ value: shares[i], colour: shares[i] <= 0 ? '#009e73' : '#d55e00' }],
      tip: [price.change, price.step_s ? `step ${formatSeconds(price.step_s)}` : spellPrice(price), spellPrice(price)] }));
    return [barChart(frame, { rows, least: least < 0 || most === 0 ? -reach : 0, most: most > 0 ? reach : 0,
      label: 'what more of one thing would buy' }),
    make('p', { class: 'nest-hint' }, 'Each is the answer of a search of its own with one thing changed, so that the plan may change with it.')];
  });
}
