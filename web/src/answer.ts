// The answer, on the right: figures, status and proof; what to change where nothing fits; and, while a question is
// searched, what is known of its answer.
import { formatDigits, formatMemory, formatPercent, formatScaled, formatSeconds } from '@views/format.js';
import type { Advice, Answer } from './api';
import { el, pushButton } from './dom';
import type { DifferenceGroup } from './differences';
import { takeAdvice } from './request';
import { copyOf, kDefaults } from './state';

const kStatus = { optimal: 'optimal', feasible: 'not proved', infeasible: 'nothing fits', limit: 'no plan yet',
  alternative: 'alternative' };

function figure(name: string, value: string, more = '', key = ''): HTMLElement {
  return el('div', { 'data-figure': key || undefined }, el('dt', {}, name),
    el('dd', {}, value, more ? el('small', {}, ` ${more}`) : null));
}

export function showAnswer(answer: Answer, heading: string, tryAdvice: (advice: Advice) => void): HTMLElement {
  const badge = el('span', { class: `badge ${answer.status}` }, kStatus[answer.status]);
  if (!answer.views) return withoutPlan(answer, heading, badge, tryAdvice);
  const data = answer.views;
  const p = data.predicted;
  const memory = Math.max(...data.stages.map((s) => s.memory?.total_bytes ?? 0));
  const capacity = data.accelerator.memory_bytes;
  const range = p.interval
    ? `${Number((100 * p.interval.level).toPrecision(3))} %: ${formatSeconds(p.interval.step_s[0])} to ${formatSeconds(p.interval.step_s[1])}` : '';
  const said = [answer.safety?.why, answer.strict?.why, answer.better_batch?.why].filter((why) => why !== undefined);
  const notes = [...new Set([...said, ...data.notes])];
  // Numbers stay beside their units.
  const fits = p.fits_probability === undefined ? '' : `, fits with ${formatPercent(p.fits_probability).replace(' ', '\u00a0')}`;
  return el('article', { class: 'answer' },
    el('h2', {}, heading ? `${heading}: ` : '', data.title, ' ', badge),
    el('p', { class: 'quiet' }, data.headline),
    el('dl', { class: 'figures' },
      figure('tokens a second', formatDigits(p.tokens_per_s), '', 'tokens'),
      figure('step', formatSeconds(p.step_s), range, 'step'),
      figure('MFU', formatPercent(p.mfu), formatScaled(p.flops_per_device_per_s, 'FLOP/s')),
      figure('bubble', formatPercent(p.bubble_fraction)),
      figure('fullest device', formatMemory(memory), `of ${formatMemory(capacity)}${fits}`),
      figure('devices', formatDigits(data.placement.used), `of ${formatDigits(data.cluster.devices)}`)),
    el('p', { class: 'degrees' }, data.degrees),
    el('p', {}, `${data.batches}; recomputation ${data.recompute}. `, el('span', { class: 'quiet' }, data.proof)),
    notes.length > 0 ? el('ul', { class: 'notes' }, ...notes.map((note) => el('li', {}, note))) : null);
}

function withoutPlan(
  answer: Answer, heading: string, badge: HTMLElement, tryAdvice: (advice: Advice) => void,
): HTMLElement {
  const advice = (answer.advice ?? []).map((a) => el('li', {}, `${inWords(a.sentence)} `,
    takeAdvice(copyOf(kDefaults), a) ? pushButton('Try it', `try ${inWords(a.sentence)}`, () => tryAdvice(a)) : null,
    a.step_s === undefined ? null : el('p', { class: 'quiet' }, `${a.degrees ?? ''}; a step of ${formatSeconds(a.step_s)}`)));
  const more = answer.status === 'infeasible' ? adviceSentence(answer) : '';
  return el('article', { class: 'answer' },
    el('h2', {}, heading ? `${heading}: ` : '', 'No plan ', badge),
    el('p', {}, withoutSentence(answer)),
    advice.length > 0 ? el('p', {}, 'Each of these changes would make a plan possible:') : null,
    advice.length > 0 ? el('ul', { class: 'advice' }, ...advice) : null,
    more ? el('p', { class: 'quiet' }, more) : null);
}

// Sentences of the command line name its options; here they are controls.
export function inWords(sentence: string): string {
  return sentence.replaceAll(/--([a-z][a-z-]*)/g, (_, name: string) => (name === 'for' ? 'plans for' : name.replaceAll('-', ' ')));
}

function withoutSentence(answer: Answer): string {
  if (answer.status !== 'limit') return answer.reason ?? '';
  const bound = answer.lower_bound_s ? ` No step is shorter than ${formatSeconds(answer.lower_bound_s)}.` : '';
  return `The search found no plan in the time that the server gives it, but there may be one.${bound} ` +
    'Fewer devices or pinned choices make it shorter, and nest plan on the command line takes as long as it needs.';
}

export function adviceSentence(answer: Pick<Answer, 'advice' | 'advice_stopped'>): string {
  if (!answer.advice) return 'Looking for changes that would make a plan possible ...';
  const some = answer.advice.length > 0;
  if (answer.advice_stopped) {
    return some ? 'There may be others: not all searches were finished within the time limit.'
      : 'No change that would make a plan possible was found before a limit, but there may be one.';
  }
  return some ? '' : 'None of the changes that were tried would make a plan possible.';
}

// What is known of an answer before it is there: bounds of the step.
export interface Coarse {
  tokens: number; // of a step
  bound_s: number;
  best_s: number | null;
}

// [figure, its range, what it means]
export function coarseTexts({ tokens, bound_s: bound, best_s: best }: Coarse): [string, string, string][] {
  if (!(bound > 0)) return [];
  if (best === null) {
    const about = 'a bound: no plan is found yet';
    return [['step', `over ${formatSeconds(bound)}`, about], ['tokens', `under ${formatScaled(tokens / bound, '')}`, about]];
  }
  const about = 'between a bound and the best plan so far';
  const same = formatSeconds(best) === formatSeconds(bound);
  return [['step', same ? formatSeconds(best) : `${formatSeconds(bound)} to ${formatSeconds(best)}`, about],
    ['tokens', same ? formatDigits(tokens / best)
      : `${formatScaled(tokens / best, '')} to ${formatScaled(tokens / bound, '')}`, about]];
}

function searchingTitle(title: string): (Node | string)[] {
  return [title, ' ', el('span', { class: 'badge searching' }, 'searching')];
}

// Marks an answer as that of a former question, and puts into it what is known of the new one, `title`.
export function showCoarse(card: HTMLElement, title: string, coarse: Coarse | null): void {
  card.classList.add('former');
  card.querySelector('.note')?.remove();
  card.querySelector('h2')?.replaceChildren(...searchingTitle(title));
  for (const [key, text, about] of coarse ? coarseTexts(coarse) : []) {
    card.querySelector(`[data-figure='${key}'] dd`)?.replaceChildren(el('span', { class: 'coarse', title: about }, text));
  }
}

// While the first answer is searched for, or where the former question had none.
export function searchingCard(title: string): HTMLElement {
  return el('article', { class: 'answer' }, el('h2', {}, ...searchingTitle(title)),
    el('dl', { class: 'figures' }, figure('tokens a second', '...', '', 'tokens'), figure('step', '...', '', 'step')));
}

export function showDifferences(groups: readonly DifferenceGroup[]): HTMLElement {
  const head = () => ['', 'pinned', 'now', ''].map((text) => el('th', { scope: 'col' }, text));
  return el('div', { class: 'tables' }, ...groups.map((group) => el('table', { class: 'differences' },
    el('caption', {}, group.title),
    el('thead', {}, el('tr', {}, ...head())),
    el('tbody', {}, ...group.rows.map((row) => el('tr', { class: row.verdict },
      el('th', { scope: 'row' }, row.name), el('td', {}, row.first), el('td', {}, row.second),
      el('td', { class: 'change' }, row.change)))))));
}
