// The views of an answer: tabs, and what each of them draws.
import {
  alternativesTable, inputsPanel, memoryBars, memoryTimeline, pipelineTimeline, placementMap, rooflineChart,
  sensitivityBars, shadowBars, stagesTable, timeBreakdown, trafficBars,
} from '@views/views.js';
import type { ColourBy, ReportData, View } from '@views/views.js';
import { at, el } from './dom';

let colourBy: ColourBy = 'stage';
let showLinks = true;

// Other plans of the question: whose table it is, which of them is shown in full, and how to show another.
export interface Others {
  best: ReportData;
  opened: number | null;
  searching: boolean; // for them
  open(which: number | null): void;
  askPrices(): void; // shadow prices, which take a search each
}

type Draw = (element: HTMLElement, data: ReportData, others: Others | null) => View;

// Two views below each other. Their elements stay where they are when they are drawn again.
function both(first: Draw, heading: string, second: Draw): Draw {
  return (element, data, others) => {
    let parts = [...element.querySelectorAll<HTMLElement>(':scope > .part')];
    if (parts.length !== 2) {
      parts = [el('div', { class: 'part' }), el('div', { class: 'part' })];
      element.replaceChildren(parts[0]!, el('h3', {}, heading), parts[1]!);
    }
    const views = [first(parts[0]!, data, others), second(parts[1]!, data, others)];
    return {
      redraw: () => views.forEach((view) => view.redraw()),
      destroy: () => {
        views.forEach((view) => view.destroy());
        element.replaceChildren();
      },
    };
  };
}

export const kViews: readonly { id: string; title: string; draw: Draw }[] = [
  { id: 'placement', title: 'Placement', draw: (element, data) => placementMap(element, data, {
    colourBy,
    onColourBy: (chosen) => {
      colourBy = chosen;
    },
    links: showLinks,
    onLinks: (shown) => {
      showLinks = shown;
    },
  }) },
  { id: 'timeline', title: 'Timeline', draw: pipelineTimeline },
  { id: 'time', title: 'Time', draw: timeBreakdown },
  { id: 'memory', title: 'Memory', draw: both(memoryBars, 'While one step runs', memoryTimeline) },
  { id: 'traffic', title: 'Traffic', draw: trafficBars },
  { id: 'roofline', title: 'Roofline', draw: rooflineChart },
  { id: 'sensitivity', title: 'Sensitivity', draw: sensitivityBars },
  { id: 'shadow', title: 'Shadow prices', draw: (element, data, others) => {
    // Those of the question; a plan that is shown in place of the best has none of its own.
    const prices = (others?.best ?? data).shadow_prices;
    if (!prices && others) others.askPrices();
    return shadowBars(element, { shadow_prices: prices }, !prices && others !== null);
  } },
  { id: 'alternatives', title: 'Alternatives', draw: (element, data, others) =>
    alternativesTable(element, others?.best ?? data, others ? { onOpen: others.open, opened: others.opened, searching: others.searching } : {}) },
  { id: 'stages', title: 'Stages', draw: stagesTable },
  { id: 'inputs', title: 'Inputs', draw: inputsPanel },
];

// Tabs with the keys that tabs have: arrows, Home and End.
export class Views {
  private drawn: View[] = [];
  private drawnAs = '';
  private plans: ReportData[] = [];
  private others: Others | null = null;

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
    this.show(this.plans, this.others);
  }

  // One plan, or two side by side; the last is the answer to the question, whose others can be opened.
  show(plans: ReportData[], others: Others | null): void {
    this.plans = plans;
    this.others = others;
    at('views').hidden = plans.length === 0;
    if (plans.length === 0) return;
    const active = this.active();
    for (const view of kViews) {
      const tab = at(`tab-${view.id}`);
      tab.setAttribute('aria-selected', `${view === active}`);
      tab.tabIndex = view === active ? 0 : -1;
      // Where tabs are a strip that scrolls, the open one is in sight.
      if (view === active) at('tabs').scrollLeft = tab.offsetLeft - at('tabs').offsetLeft - 60;
    }
    const panel = at('panel');
    panel.setAttribute('aria-labelledby', `tab-${active.id}`);
    // Elements stay where their number does: the page does not jump while a slider moves.
    const now = `${active.id} ${plans.length}`;
    if (this.drawnAs !== now) {
      for (const view of this.drawn) view.destroy();
      panel.replaceChildren(...plans.map(() => el('div', { class: 'view' })));
    }
    this.drawnAs = now;
    panel.classList.toggle('two', plans.length > 1);
    this.drawn = plans.map((plan, i) =>
      active.draw(panel.children[i] as HTMLElement, plan, i + 1 === plans.length ? others : null));
  }
}
