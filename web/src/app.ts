// The page: state and link, the planner, and what is shown of its answers.
import { redrawViews } from '@views/views.js';
import { exportOf, fetchPlan, loadCatalog, reportOf } from './api';
import type { Advice, Answer, Catalog } from './api';
import { Controls, spellError } from './controls';
import { differences } from './differences';
import { at, download, el, pushButton } from './dom';
import { Planner } from './planner';
import { asksForOthers, isPatient, othersOf, patientOf, requestOf, takeAdvice } from './request';
import type { PlanRequest } from './request';
import { tar } from './tar';
import { targetMenu } from './targets';
import { showAnswer, showDifferences, Views } from './result';
import { copyOf, decodeLink, encodeLink } from './state';
import type { State } from './state';

const kHash = '#s=';
const session = crypto.randomUUID ? crypto.randomUUID() : `tab-${Math.random().toString(36).slice(2)}`;

class App {
  private state: State;
  private pinnedState: State | null;
  private pinned: Answer | null = null;
  private answer: Answer | null = null;
  private readonly views: Views;
  private readonly planner: Planner<Answer>;
  private readonly pin = pushButton('Pin this plan', 'keep this plan and compare the next ones with it', () => this.togglePin());
  private readonly exports: HTMLButtonElement[];
  private readonly targets: HTMLElement;

  constructor(private readonly catalog: Catalog) {
    const link = this.readLink();
    this.state = link.now;
    this.pinnedState = link.pinned;
    this.views = new Views(() => this.state.view, (id) => {
      this.state.view = id;
      this.writeLink();
    });
    this.planner = new Planner<Answer>(fetchPlan, {
      busy: (busy) => document.body.classList.toggle('busy', busy),
      progress: (p, request) => {
        if (asksForOthers(request)) return;
        const best = p.best_s === null ? 'no plan yet' : `best ${p.best_s.toPrecision(3)} s`;
        const gap = p.best_s === null ? '' : `, gap ${(100 * Math.max(0, p.best_s / p.bound_s - 1)).toFixed(1)} %`;
        at('working').textContent = `searching for ${p.elapsed_s.toFixed(1)} s: ${best}${gap}`;
      },
      answer: (answer, request, seconds) => this.take(answer, request, seconds),
      error: (error) => {
        at('working').textContent = '';
        this.problem(error);
      },
    });
    this.exports = [
      pushButton('plan.json', 'download the plan, for nest evaluate, simulate and report', () => this.savePlan()),
      pushButton('report.html', 'download the report: one file that works without this server', () => void this.saveReport()),
    ];
    this.targets = targetMenu(catalog.targets, (to, title) => void this.saveLaunch(to, title));
    const theme = pushButton('Dark', 'light or dark colours', () => this.toggleTheme());
    theme.id = 'theme';
    const copy = pushButton('Copy link', 'a link that holds everything on this page', () => void this.copyLink());
    at('actions').replaceChildren(this.pin, ...this.exports, this.targets, copy, theme);
    this.setTheme(this.isDark());
  }

  async start(): Promise<void> {
    addEventListener('hashchange', () => {
      if (location.hash === this.hash()) return;
      const link = this.readLink();
      this.state = link.now;
      this.pinnedState = link.pinned;
      this.pinned = null;
      void this.open();
    });
    await this.open();
  }

  private async open(): Promise<void> {
    const failed = (error: unknown) => this.problem(error);
    const controls = new Controls(at('controls'), this.catalog, this.state, () => this.ask(), failed);
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
  }

  private ask(): void {
    this.writeLink();
    this.planner.ask(requestOf(this.state, session));
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
    if (location.hash !== this.hash()) history.replaceState(null, '', address);
  }

  private problem(error: unknown): void {
    const box = at('problem');
    box.hidden = error === null;
    box.replaceChildren(...(error === null ? [] : spellError(error).map((text) => el('p', {}, text))));
    document.body.classList.toggle('stale', error !== null);
  }

  private take(answer: Answer, request: PlanRequest, seconds: number): void {
    if (asksForOthers(request)) return this.takeOthers(answer);
    at('working').textContent = `planned in ${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0)} s`;
    this.answer = answer;
    this.problem(null);
    this.show();
    const proved = answer.status === 'optimal' || (answer.status === 'infeasible' && !answer.advice_stopped);
    if (!proved && !isPatient(request)) this.planner.follow(patientOf(request));
    else if (answer.views) this.planner.follow(othersOf(request));
  }

  private takeOthers(answer: Answer): void {
    if (!this.answer?.views || !answer.runners_up) return;
    this.answer.runners_up = answer.runners_up;
    this.answer.views.alternatives = answer.runners_up;
    if (this.state.view === 'alternatives') this.show();
  }

  private show(): void {
    const { answer, pinned } = this;
    this.pin.textContent = pinned ? 'Unpin' : 'Pin this plan';
    this.pin.disabled = !pinned && !answer?.views;
    for (const button of this.exports) button.disabled = !answer?.views;
    for (const part of this.targets.querySelectorAll('select, button')) part.toggleAttribute('disabled', !answer?.views);
    if (!answer) return;
    const tryAdvice = (advice: Advice) => {
      takeAdvice(this.state, advice);
      void this.open();
    };
    const columns = [showAnswer(answer, pinned ? 'Now' : '', tryAdvice)];
    if (pinned) columns.unshift(showAnswer(pinned, 'Pinned', tryAdvice));
    at('columns').classList.toggle('two', pinned !== null);
    at('columns').replaceChildren(...columns);
    const both = pinned?.views && answer.views;
    at('differences').hidden = !both;
    if (pinned?.views && answer.views)
      at('differences').replaceChildren(showDifferences(differences(pinned.views, answer.views)));
    this.views.show([pinned?.views, answer.views].filter((data) => data !== undefined));
    document.title = answer.views ? `${answer.views.title} - NEST` : 'NEST';
  }

  private togglePin(): void {
    this.pinned = this.pinned ? null : this.answer;
    this.pinnedState = this.pinned ? copyOf(this.state) : null;
    this.writeLink();
    this.show();
  }

  // The plan without what only this page needs.
  private plan(): unknown {
    const { views: _, ...plan } = this.answer ?? {};
    return plan;
  }

  private savePlan(): void {
    download('plan.json', new Blob([`${JSON.stringify(this.plan(), null, 2)}\n`], { type: 'application/json' }));
  }

  private async saveReport(): Promise<void> {
    try {
      download('report.html', await reportOf(this.plan()));
    } catch (error) {
      this.problem(error);
    }
  }

  private async saveLaunch(to: string, title: string): Promise<void> {
    try {
      const { files, lost } = await exportOf(this.plan(), to);
      download(`${to}-launch.tar`, new Blob([tar(`${to}-launch`, files)], { type: 'application/x-tar' }));
      at('working').textContent = lost?.length ? `lost in translation to ${title}: ${lost.join('; ')}` : '';
    } catch (error) {
      this.problem(error);
    }
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
