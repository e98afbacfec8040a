// The answer, on the right: figures, status and proof; what to change where nothing fits; the views.
import { formatDigits, formatMemory, formatPercent, formatScaled, formatSeconds } from '@views/format.js';
import {
  alternativesTable, inputsPanel, memoryBars, pipelineTimeline, placementMap, sensitivityBars, stagesTable,
  timeBreakdown, trafficBars,
} from '@views/views.js';
import type { ColourBy, ReportData, View } from '@views/views.js';
import type { Advice, Answer } from './api';
import { at, el, pushButton } from './dom';
import type { DifferenceGroup } from './differences';
import { takeAdvice } from './request';
import { copyOf, kDefaults } from './state';

let colourBy: ColourBy = 'stage';

type Draw = (element: HTMLElement, data: ReportData) => View;
export const kViews: readonly { id: string; title: string; draw: Draw }[] = [
  { id: 'placement', title: 'Placement', draw: (element, data) => placementMap(element, data, {
    colourBy,
    onColourBy: (chosen) => {
      colourBy = chosen;
    },
  }) },
  { id: 'timeline', title: 'Timeline', draw: pipelineTimeline },
  { id: 'time', title: 'Time', draw: timeBreakdown },
  { id: 'memory', title: 'Memory', draw: memoryBars },
  { id: 'traffic', title: 'Traffic', draw: trafficBars },
  { id: 'sensitivity', title: 'Sensitivity', draw: sensitivityBars },
  { id: 'alternatives', title: 'Alternatives', draw: alternativesTable },
  { id: 'stages', title: 'Stages', draw: stagesTable },
  { id: 'inputs', title: 'Inputs', draw: inputsPanel },
];

const kStatus = {
  optimal: 'optimal', feasible: 'not proved', infeasible: 'nothing fits', limit: 'stopped at the time limit',
};

export function showAnswer(answer: Answer, heading: string, tryAdvice: (advice: Advice) => void): HTMLElement {
  const badge = el('span', { class: `badge ${answer.status}` }, kStatus[answer.status]);
  if (!answer.views) return withoutPlan(answer, heading, badge, tryAdvice);
  const data = answer.views;
  const p = data.predicted;
  const memory = Math.max(...data.stages.map((s) => s.memory?.total_bytes ?? 0));
  const capacity = data.accelerator.memory_bytes;
  const figure = (name: string, value: string, more = '') =>
    el('div', {}, el('dt', {}, name), el('dd', {}, value, more ? el('small', {}, ` ${more}`) : null));
  return el('article', { class: 'answer' },
    el('h2', {}, heading ? `${heading}: ` : '', data.title, ' ', badge),
    el('p', { class: 'quiet' }, data.headline),
    el('dl', { class: 'figures' },
      figure('tokens a second', formatDigits(p.tokens_per_s)),
      figure('step', formatSeconds(p.step_s)),
      figure('MFU', formatPercent(p.mfu), formatScaled(p.flops_per_device_per_s, 'FLOP/s')),
      figure('bubble', formatPercent(p.bubble_fraction)),
      figure('fullest device', formatMemory(memory), `of ${formatMemory(capacity)}`),
      figure('devices', formatDigits(data.placement.used), `of ${formatDigits(data.cluster.devices)}`)),
    el('p', { class: 'degrees' }, data.degrees),
    el('p', {}, `${data.batches}; recomputation ${data.recompute}. `, el('span', { class: 'quiet' }, data.proof)),
    data.notes.length > 0 ? el('ul', { class: 'notes' }, ...data.notes.map((note) => el('li', {}, note))) : null);
}

function withoutPlan(
  answer: Answer, heading: string, badge: HTMLElement, tryAdvice: (advice: Advice) => void,
): HTMLElement {
  const advice = (answer.advice ?? []).map((a) => el('li', {}, a.sentence,
    a.step_s === undefined ? null : el('span', { class: 'quiet' }, ` (a step of ${formatSeconds(a.step_s)}) `),
    takeAdvice(copyOf(kDefaults), a) ? pushButton('Try it', `try ${a.sentence}`, () => tryAdvice(a)) : null));
  return el('article', { class: 'answer' },
    el('h2', {}, heading ? `${heading}: ` : '', 'No plan ', badge),
    el('p', {}, answer.reason ?? ''),
    advice.length > 0 ? el('p', {}, 'What would fit:') : null,
    advice.length > 0 ? el('ul', {}, ...advice) : null);
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

// Tabs with the keys that tabs have: arrows, Home and End.
export class Views {
  private drawn: View[] = [];
  private plans: ReportData[] = [];

  constructor(private readonly chosen: () => string, private readonly choose: (id: string) => void) {
    const tabs = kViews.map((view) => {
      const tab = el('button', { type: 'button', role: 'tab', id: `tab-${view.id}`, 'aria-controls': 'panel' }, view.title);
      tab.addEventListener('click', () => this.open(view.id));
      return tab;
    });
    at('tabs').replaceChildren(...tabs);
    at('tabs').addEventListener('keydown', (event) => {
      const now = kViews.findIndex((view) => view.id === this.active().id);
      const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: kViews.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = kViews[(to + kViews.length) % kViews.length];
      if (!next) return;
      this.open(next.id);
      at(`tab-${next.id}`).focus();
    });
  }

  private active(): (typeof kViews)[number] {
    return kViews.find((view) => view.id === this.chosen()) ?? kViews[0]!;
  }

  private open(id: string): void {
    this.choose(id);
    this.show(this.plans);
  }

  // One plan, or two side by side.
  show(plans: ReportData[]): void {
    this.plans = plans;
    at('views').hidden = plans.length === 0;
    if (plans.length === 0) return;
    const active = this.active();
    for (const view of kViews) {
      const tab = at(`tab-${view.id}`);
      tab.setAttribute('aria-selected', `${view === active}`);
      tab.tabIndex = view === active ? 0 : -1;
    }
    const panel = at('panel');
    panel.setAttribute('aria-labelledby', `tab-${active.id}`);
    // Elements stay where their number does: the page does not jump while a slider moves.
    if (panel.children.length !== plans.length) {
      for (const view of this.drawn) view.destroy();
      panel.replaceChildren(...plans.map(() => el('div', { class: 'view' })));
    }
    panel.classList.toggle('two', plans.length > 1);
    this.drawn = plans.map((plan, i) => active.draw(panel.children[i] as HTMLElement, plan));
  }
}
