// Plans while the user drags. Only the newest question counts: there is one in flight and one that waits to take
// its place, never a queue. A question in flight has a moment to end before it is given up, so that quick plans
// keep coming while a slider moves, and longer where it has told nothing yet: else slow ones never tell a bound.
import type { PlanRequest } from './request';

// How far a search is; where nothing fits, which change is tried next.
export interface Progress {
  elapsed_s?: number;
  bound_s?: number;
  best_s?: number | null;
  trying?: string;
}

export type Fetch<Answer> = (
  request: PlanRequest, signal: AbortSignal, progress: (p: Progress) => void,
) => Promise<Answer>;

export interface Listener<Answer> {
  busy(busy: boolean): void;
  progress(p: Progress, request: PlanRequest): void;
  answer(answer: Answer, request: PlanRequest, seconds: number): void;
  error(error: unknown): void;
}

export const kDebounceMs = 80;
export const kPatienceMs = 300;
export const kSilenceMs = 1200;

export class Planner<Answer> {
  private waiting: PlanRequest | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private flight: AbortController | null = null;
  private began = 0;
  private told = false; // whether the question in flight has told of progress

  constructor(
    private readonly fetch: Fetch<Answer>,
    private readonly listener: Listener<Answer>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  ask(request: PlanRequest): void {
    this.waiting = request;
    this.listener.busy(true);
    if (this.timer === null) this.later(kDebounceMs);
  }

  // Whether something newer than what is in flight, or was just answered, is to be asked.
  get hasNewer(): boolean {
    return this.waiting !== null;
  }

  // Nobody wants an answer any more: neither that of the question in flight nor that of one that waits.
  cancel(): void {
    this.waiting = null;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.flight?.abort();
    this.flight = null;
    this.listener.busy(false);
  }

  // What an answer leads to: asked only where the user has not asked something newer meanwhile.
  follow(request: PlanRequest): void {
    if (this.waiting === null) this.ask(request);
  }

  private later(ms: number): void {
    this.timer = setTimeout(() => {
      this.timer = null;
      this.due();
    }, ms);
  }

  private due(): void {
    if (this.waiting === null) return;
    const left = this.flight ? this.began + (this.told ? kPatienceMs : kSilenceMs) - this.now() : 0;
    if (left > 0) return this.later(Math.min(left, kDebounceMs));
    this.flight?.abort();
    void this.start(this.waiting);
  }

  private async start(request: PlanRequest): Promise<void> {
    this.waiting = null;
    const flight = new AbortController();
    this.flight = flight;
    this.began = this.now();
    this.told = false;
    const wanted = () => this.flight === flight;
    try {
      const answer = await this.fetch(request, flight.signal, (p) => {
        if (!wanted()) return;
        this.told = true;
        this.listener.progress(p, request);
      });
      if (wanted()) this.listener.answer(answer, request, (this.now() - this.began) / 1000);
    } catch (error) {
      if (wanted() && !flight.signal.aborted) this.listener.error(error);
    }
    if (!wanted()) return;
    this.flight = null;
    if (this.waiting === null) return this.listener.busy(false);
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    void this.start(this.waiting);
  }
}
