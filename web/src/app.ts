// The page: state and link, the planner, and what is shown of its answers.
import { redrawViews } from '@views/views.js';
import { inWords, markFormer, searchingCard, showAnswer, showCoarse, showDifferences } from './answer';
import type { Coarse } from './answer';
import { cancel, fetchPlan, loadCatalog, shadowPricesOf, viewsOf } from './api';
import type { Advice, Answer, Catalog } from './api';
import { Controls, spellError } from './controls';
import { differences } from './differences';
import { at, el, pushButton } from './dom';
import { Exports } from './exports';
import { headingOf, noteOf, planFile, showOther } from './other_plan';
import type { OtherShown } from './other_plan';
import { Planner } from './planner';
import type { Progress } from './planner';
import { isOpen, patientOf, pricesOf, pricesSession, requestOf, takeAdvice } from './request';
import type { PlanRequest } from './request';
import { Views } from './result';
import { changedKeys, copyOf, decodeLink, encodeLink } from './state';
import type { State } from './state';
import { Trail } from './trail';

const kHash = '#s=';
const kFormerMs = 200; // that a former answer stays, so that quick ones follow each other without a gap
const session = crypto.randomUUID ? crypto.randomUUID() : `tab-${Math.random().toString(36).slice(2)}`;

class App {
  private state: State;
  private asked: State; // as the newest entry of the history has it
  private pinnedState: State | null;
  private pinned: Answer | null = null;
  private answer: Answer | null = null; // to the question
  private opened: OtherShown | null = null; // another plan of it, shown in its place
  private pricesAsked: Answer | null = null; // for which shadow prices are looked for or known
  private current = false; // whether the answer is that of the question as it stands
  private final = false; // whether more time cannot change it
  private blank: ReturnType<typeof setTimeout> | null = null; // until the former answer makes room
  private controls: Controls | null = null;
  private readonly views: Views;
  private readonly planner: Planner<Answer>;
  private readonly trail = new Trail(history);
  private readonly pin = pushButton('Pin this plan', 'keep this plan and compare the next ones with it', () => this.togglePin());
  private readonly undo = pushButton('\u21b6', 'undo the last change (Ctrl+Z)', () => this.travel(-1));
  private readonly back = pushButton('Back', 'show the plan that is taken again', () => void this.openOther(null));
  private readonly redo = pushButton('\u21b7', 'redo the change (Ctrl+Y)', () => this.travel(1));
  private readonly exports: Exports;

  constructor(private readonly catalog: Catalog) {
    const link = this.readLink();
    this.state = link.now;
    this.asked = copyOf(this.state);
    this.pinnedState = link.pinned;
    this.views = new Views(() => this.state.view, (id) => {
      this.state.view = id;
      this.writeLink();
    });
    this.planner = new Planner<Answer>(fetchPlan, {
      busy: (busy) => document.body.classList.toggle('busy', busy),
      progress: (p) => this.progress(p),
      answer: (answer, request, seconds) => this.take(answer, request, seconds),
      // A later turn of a question whose plan is on the screen takes nothing away.
      error: (error) => (this.current ? this.problem(error) : this.refused(error)),
    });
    this.exports = new Exports(catalog.targets, () => planFile(this.shown() ?? { status: 'limit' }), (error) => this.problem(error));
    const theme = pushButton('Dark', 'light or dark colours', () => this.toggleTheme());
    theme.id = 'theme';
    this.undo.setAttribute('aria-label', 'Undo');
    this.redo.setAttribute('aria-label', 'Redo');
    const copy = pushButton('Copy link', 'a link that holds everything on this page', () => void this.copyLink());
    at('actions').replaceChildren(this.undo, this.redo, this.pin, copy, theme, ...this.exports.nodes);
    this.setTheme(this.isDark());
  }

  async start(): Promise<void> {
    addEventListener('popstate', () => {
      const ours = this.trail.moved();
      const link = this.readLink();
      this.state = link.now;
      this.asked = copyOf(this.state);
      if (!ours) {
        this.pinnedState = link.pinned;
        this.pinned = null;
      }
      void this.open();
    });
    addEventListener('keydown', (event) => this.key(event));
    at('fold').addEventListener('click', () => this.fold(!at('page').classList.contains('open')));
    await this.open();
  }

  private async open(): Promise<void> {
    const focused = document.activeElement;
    const name = at('controls').contains(focused) ? focused?.getAttribute('aria-label') ?? focused?.id ?? '' : '';
    this.controls?.close();
    const controls = new Controls(at('controls'), this.catalog, this.state, () => this.begin(), () => this.ask(), (error) => this.refused(error));
    this.controls = controls;
    this.begin();
    if (this.pinnedState && !this.pinned) {
      const request = requestOf(this.pinnedState, `${session.slice(0, 50)}-pin`);
      try {
        this.pinned = await fetchPlan(patientOf(request), new AbortController().signal, () => undefined);
      } catch (error) {
        this.problem(error);
        this.pinnedState = null;
      }
    }
    await controls.open();
    // What was in hand before stays in hand.
    if (name) [...at('controls').querySelectorAll<HTMLElement>('input, select, textarea')]
      .find((node) => (node.getAttribute('aria-label') ?? node.id) === name)?.focus();
  }

  // Another question is on its way: nobody wants the answer to the former one any more.
  private begin(): void {
    this.planner.cancel();
    this.controls?.refuse(null);
    this.wait();
  }

  private ask(): void {
    this.writeLink();
    this.controls?.refuse(null);
    this.wait();
    if (this.pricesAsked && !this.pricesAsked.views?.shadow_prices) void cancel(pricesSession(session));
    this.pricesAsked = null;
    this.planner.ask(requestOf(this.state, session));
  }

  // From the moment that the question changes, what is on the screen is that of a former one, and looks so.
  private wait(): void {
    this.current = false;
    this.opened = null;
    document.body.classList.add('asking');
    this.fold(at('page').classList.contains('open'));
    if (!this.answer?.views) {
      at('columns').replaceChildren(...this.pinnedCard(), searchingCard(this.name()));
    } else if (this.nowCard().classList.contains('searching')) {
      showCoarse(this.nowCard(), this.name(), null);
    } else {
      markFormer(this.nowCard());
      this.blank ??= setTimeout(() => showCoarse(this.nowCard(), this.name(), null), kFormerMs);
    }
    this.enable();
  }

  private stopWaiting(): void {
    if (this.blank !== null) clearTimeout(this.blank);
    this.blank = null;
    document.body.classList.remove('asking');
  }

  private name(): string {
    return `${this.state.modelText ? 'your model' : this.state.model} on ${this.state.clusterText ? 'your cluster' : this.state.cluster}`;
  }

  private nowCard(): HTMLElement {
    return at('columns').lastElementChild as HTMLElement;
  }

  private progress(p: Progress): void {
    if (p.trying) {
      at('working').textContent = `nothing fits; looking for a change that would help: ${inWords(p.trying)}`;
      return;
    }
    const best = p.best_s ?? null;
    const bound = p.bound_s ?? 0;
    const gap = best === null || !(bound > 0) ? '' : `, gap ${(100 * Math.max(0, best / bound - 1)).toFixed(1)} %`;
    at('working').textContent = `searching for ${(p.elapsed_s ?? 0).toFixed(1)} s: ` +
      `${best === null ? 'no plan yet' : `best ${best.toPrecision(3)} s`}${gap}`;
    if (this.current) return;
    const sequence = this.controls?.sequence() ?? 0;
    const coarse: Coarse = { tokens: this.state.batch * sequence, bound_s: bound, best_s: best };
    showCoarse(this.nowCard(), this.name(), coarse);
  }

  private hash(): string {
    const text = encodeLink({ now: this.state, pinned: this.pinnedState });
    return text ? kHash + text : '';
  }

  private readLink() {
    const text = location.hash.startsWith(kHash) ? location.hash.slice(kHash.length) : '';
    const link = decodeLink(text);
    return link ?? { now: decodeLink('')!.now, pinned: null };
  }

  private writeLink(): void {
    const address = this.hash() || location.pathname + location.search;
    const keys = changedKeys(this.asked, this.state);
    if (keys !== '' || location.hash !== this.hash()) this.trail.record(address, keys);
    this.asked = copyOf(this.state);
    this.enable();
  }

  private travel(by: -1 | 1): void {
    if (by < 0 ? this.trail.canUndo : this.trail.canRedo) history.go(by);
  }

  // Boxes in which somebody types have an undo of their own.
  private key(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== 'range' && target.type !== 'checkbox')) return;
    const letter = event.key.toLowerCase();
    if (letter !== 'z' && letter !== 'y') return;
    event.preventDefault();
    this.travel(letter === 'y' || event.shiftKey ? 1 : -1);
  }

  // On narrow screens the question is one line until somebody wants to change it.
  private fold(open: boolean): void {
    at('page').classList.toggle('open', open);
    at('fold').setAttribute('aria-expanded', `${open}`);
    at('fold').textContent = open ? 'Hide the question' : `Change the question: ${this.name()}`;
  }

  private problem(error: unknown): void {
    const box = at('problem');
    box.hidden = error === null;
    box.replaceChildren(...(error === null ? [] : spellError(error).map((text) => el('p', {}, text))));
  }

  // The question has no answer: what is shown is not one, and nothing of it can be exported.
  private refused(error: unknown): void {
    this.planner.cancel();
    this.stopWaiting();
    at('working').textContent = '';
    this.current = false;
    this.answer = null;
    this.opened = null;
    this.controls?.refuse(error);
    this.problem(error);
    document.title = 'NEST';
    at('columns').replaceChildren(...this.pinnedCard());
    at('columns').classList.remove('two');
    at('differences').hidden = true;
    this.views.show(this.pinned?.views ? [this.pinned.views] : [], null);
    this.enable();
  }

  private take(answer: Answer, request: PlanRequest, seconds: number): void {
    this.problem(null);
    const open = isOpen(answer, request);
    const { hasNewer } = this.planner;
    if (open) this.planner.follow(patientOf(request));
    // No plan in a moment is no answer yet: the search goes on, and its bounds are shown.
    if (open && answer.status === 'limit') return;
    if (open && answer.status === 'infeasible') answer.advice = undefined; // it is looked for next
    at('working').textContent = `planned in ${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0)} s`;
    this.answer = answer;
    this.opened = null;
    this.current = true;
    this.final = !open;
    this.stopWaiting();
    this.show();
    // Somebody still drags: this was a quick answer to a question on the way.
    if (hasNewer) this.wait();
  }

  // Another plan of the same question in full, in place of the best.
  private async openOther(which: number | null): Promise<void> {
    const plan = which === null ? null : this.answer?.alternatives?.[which];
    if (!this.answer?.views || !this.current) return;
    if (which === null || !plan) {
      this.opened = null;
      return this.show();
    }
    const { answer } = this;
    document.body.classList.add('busy');
    try {
      const views = await viewsOf(plan);
      if (this.answer !== answer || !this.current) return;
      this.opened = showOther(answer, which, plan, views);
      this.problem(null);
      this.show();
    } catch (error) {
      this.problem(error);
    } finally {
      document.body.classList.remove('busy');
    }
  }

  // Once for each answer, when somebody looks at them.
  private async askPrices(): Promise<void> {
    const { answer } = this;
    if (!answer?.views || !this.final || this.pricesAsked === answer) return;
    this.pricesAsked = answer;
    try {
      const { shadow_prices: prices } = await shadowPricesOf(pricesOf(requestOf(this.state, session)));
      if (this.answer !== answer) return;
      answer.views.shadow_prices = prices;
      if (this.state.view === 'shadow' && this.current) this.show();
    } catch (error) {
      if (this.answer === answer && this.current) this.problem(error);
    }
  }

  private shown(): Answer | null {
    return this.opened?.answer ?? this.answer;
  }

  // What can be pressed, for what is on the screen.
  private enable(): void {
    const ready = this.current && this.shown()?.views !== undefined;
    this.pin.textContent = this.pinned ? 'Unpin' : 'Pin this plan';
    this.pin.disabled = !this.pinned && !ready;
    this.undo.disabled = !this.trail.canUndo;
    this.redo.disabled = !this.trail.canRedo;
    this.exports.enable(ready);
  }

  private tryAdvice(advice: Advice): void {
    takeAdvice(this.state, advice);
    void this.open();
  }

  private pinnedCard(): HTMLElement[] {
    return this.pinned ? [showAnswer(this.pinned, 'Pinned', { tryAdvice: (advice) => this.tryAdvice(advice) })] : [];
  }

  private show(): void {
    const { pinned, answer } = this;
    const shown = this.shown();
    this.enable();
    if (!answer || !shown) return;
    const others = answer.views?.alternatives ?? [];
    const fastest = others.findIndex((other) => other.strict);
    const card = showAnswer(shown, this.opened ? headingOf(others, this.opened.which) : pinned ? 'Now' : '', {
      final: this.final, tryAdvice: (advice) => this.tryAdvice(advice),
      ...(fastest >= 0 && !this.opened && answer.alternatives ? { openFastest: () => void this.openOther(fastest) } : {}),
    });
    if (this.opened) card.prepend(noteOf(others, this.opened.which, this.back));
    at('columns').classList.toggle('two', pinned !== null);
    at('columns').replaceChildren(...this.pinnedCard(), card);
    const both = pinned?.views && shown.views;
    at('differences').hidden = !both;
    if (pinned?.views && shown.views)
      at('differences').replaceChildren(showDifferences(differences(pinned.views, shown.views)));
    const table = answer.views && {
      best: answer.views, opened: this.opened?.which ?? null, searching: !this.final,
      open: (which: number | null) => void this.openOther(which), askPrices: () => void this.askPrices(),
    };
    this.views.show([pinned?.views, shown.views].filter((data) => data !== undefined), table ?? null);
    document.title = shown.views ? `${shown.views.title} - NEST` : 'NEST';
  }

  private togglePin(): void {
    this.pinned = this.pinned ? null : this.shown();
    this.pinnedState = this.pinned ? copyOf(this.state) : null;
    this.writeLink();
    this.show();
  }

  private async copyLink(): Promise<void> {
    this.writeLink();
    try {
      await navigator.clipboard.writeText(location.href);
      at('working').textContent = 'the link is copied';
    } catch {
      at('working').textContent = 'the link is in the address bar';
    }
  }

  private isDark(): boolean {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  }

  private setTheme(dark: boolean): void {
    at('theme').textContent = dark ? 'Light' : 'Dark';
  }

  private toggleTheme(): void {
    const dark = !this.isDark();
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.setTheme(dark);
    redrawViews();
  }
}

try {
  await new App(await loadCatalog()).start();
} catch (error) {
  at('problem').hidden = false;
  at('problem').replaceChildren(...spellError(error).map((text) => el('p', {}, text)));
}
