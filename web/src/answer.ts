// The answer, on the right: figures, status and proof; what to change where nothing fits; and, while a question is
// searched, what is known of its answer.
import { usedBytes } from '@views/devices.js';
import { formatDigits, formatMemory, formatPercent, formatScaled, formatSeconds } from '@views/format.js';
import { withinBest } from '@views/panels.js';
import type { ReportData } from '@views/views.js';
import type { Advice, Answer } from './api';
import { el, pushButton } from './dom';
import type { DifferenceGroup } from './differences';
import { takeAdvice } from './request';
import { copyOf, kDefaults } from './state';

const kStatus = { optimal: 'optimal', feasible: 'not proved', infeasible: 'nothing fits', limit: 'no plan yet',
  alternative: 'alternative' };

// `lines`: what stands below the value, in small print.
function figure(name: string, value: string, lines: string[] = [], key = ''): HTMLElement {
  return el('div', { 'data-figure': key || undefined }, el('dt', {}, name),
    el('dd', {}, value, ...lines.filter((line) => line !== '').map((line) => el('small', {}, line))));
}

// Numbers stay beside their units.
function whole(text: string): string {
  return text.replaceAll(/(\d) (?=\S)/g, '$1\u00a0');
}

function range([low, high]: [number, number], level: number, format: (value: number) => string): string {
  return whole(`${Number((100 * level).toPrecision(3))} %: ${format(low)} to ${format(high)}`);
}

// What is in use, and apart from it what the device keeps for itself and what the question keeps free.
function memoryFigure(data: ReportData): HTMLElement {
  const full = data.stages.map((s) => s.memory).filter((m) => m !== undefined)
    .reduce((a, b) => (b.total_bytes / b.capacity_bytes > a.total_bytes / a.capacity_bytes ? b : a));
  const apart = [full.reserve_bytes > 0 ? `${formatMemory(full.reserve_bytes)} reserve` : '',
    (full.margin_bytes ?? 0) > 0 ? `${formatMemory(full.margin_bytes ?? 0)} margin` : ''].filter((text) => text !== '');
  const { interval } = data.predicted;
  return figure('fullest device uses', formatMemory(usedBytes(full)), [
    whole([`of ${formatMemory(full.capacity_bytes)}`, ...apart].join('; ')),
    interval?.memory_bytes ? `${range(interval.memory_bytes, interval.level, formatMemory)}${full.reserve_bytes > 0 ? ' with the reserve' : ''}` : '',
    whole(data.fits)], 'memory');
}

// The status in a word or two. A plan that a moment found is not the last word, whatever its status.
export function statusWords(answer: Pick<Answer, 'status' | 'views'>, final: boolean): string {
  if (answer.views && !final) return 'not final';
  return answer.views && answer.status === 'optimal' ? `optimal ${withinBest(answer.views)}`.trim() : kStatus[answer.status];
}

export interface CardOptions {
  final?: boolean; // false: the search goes on
  tryAdvice?: (advice: Advice) => void;
  openFastest?: () => void; // where a simpler plan stands in its place
}

export function showAnswer(answer: Answer, heading: string, options: CardOptions = {}): HTMLElement {
  const final = options.final ?? true;
  const badge = el('span', { class: `badge ${final || !answer.views ? answer.status : 'searching'}` }, statusWords(answer, final));
  if (!answer.views) return withoutPlan(answer, heading, badge, options.tryAdvice ?? (() => undefined));
  const data = answer.views;
  const p = data.predicted;
  const notes = [...new Set(data.notes)].map(inWords);
  const fastest = options.openFastest ? [' ', pushButton('Show the best', 'show the plan with the shortest step', options.openFastest)] : [];
  return el('article', { class: 'answer' },
    el('h2', {}, heading ? `${heading}: ` : '', data.title, ' ', badge),
    el('p', { class: 'quiet' }, data.headline),
    el('dl', { class: 'figures' },
      figure('tokens a second', formatDigits(p.tokens_per_s), [], 'tokens'),
      figure('step', formatSeconds(p.step_s), [p.interval ? range(p.interval.step_s, p.interval.level, formatSeconds) : ''], 'step'),
      figure('MFU', formatPercent(p.mfu), [formatScaled(p.flops_per_device_per_s, 'FLOP/s')], 'mfu'),
      figure('bubble', formatPercent(p.bubble_fraction), [], 'bubble'),
      figure('devices', formatDigits(data.placement.used), [`of ${formatDigits(data.cluster.devices)}`], 'devices'),
      memoryFigure(data)),
    el('p', { class: 'degrees' }, data.degrees),
    el('p', {}, `${data.batches}; recomputation ${data.recompute}. `, el('span', { class: 'quiet' }, data.proof)),
    data.simpler ? el('p', { class: 'simpler' }, `${inWords(data.simpler)}.`, ...fastest) : null,
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

// Sentences of the command line name its options, some in parentheses after all has been said; here they are controls.
export function inWords(sentence: string): string {
  return sentence.replaceAll(/ \(--[^()]*\)/g, '').replaceAll(/--([a-z][a-z-]*)/g, (_, name: string) => (name === 'for' ? 'plans for' : name.replaceAll('-', ' ')));
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

// For a moment an answer to a former question stays, as such.
export function markFormer(card: HTMLElement): void {
  card.classList.add('former');
}

// Makes room for the answer to the question `title`: what is known of it stands in place of its figures, and nothing
// of the former answer is left but its size, so that the page does not jump.
export function showCoarse(card: HTMLElement, title: string, coarse: Coarse | null): void {
  card.classList.add('former', 'searching');
  card.querySelector('.note')?.remove();
  card.querySelector('h2')?.replaceChildren(...searchingTitle(title));
  const known = new Map((coarse ? coarseTexts(coarse) : []).map(([key, ...rest]) => [key, rest]));
  for (const part of card.querySelectorAll<HTMLElement>('[data-figure]')) {
    const value = part.querySelector('dd');
    const [text, about] = known.get(part.dataset.figure ?? '') ?? ['...', 'not known yet'];
    const lines = [...value?.querySelectorAll('small') ?? []];
    value?.replaceChildren(el('span', { class: text === '...' ? 'open' : 'coarse', title: about }, text), ...lines);
  }
}

// While the first answer is searched for, or where the former question had none.
export function searchingCard(title: string): HTMLElement {
  return el('article', { class: 'answer' }, el('h2', {}, ...searchingTitle(title)),
    el('dl', { class: 'figures' }, figure('tokens a second', '...', [], 'tokens'), figure('step', '...', [], 'step')));
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
