// Undo and redo, which are the browser's own Back and Forward: every question is an entry of its history. Changes of
// the same thing within a moment are one entry, so that dragging a slider is undone at once.

export interface Entries {
  readonly state: unknown;
  pushState(state: unknown, unused: string, address: string): void;
  replaceState(state: unknown, unused: string, address?: string): void;
}

export const kOneChangeMs = 1200;

export class Trail {
  private at: number;
  private top: number;
  private keys = '';
  private when = -Infinity;

  constructor(private readonly entries: Entries, private readonly now: () => number = () => performance.now()) {
    this.at = this.top = numberOf(entries.state) ?? 0;
    entries.replaceState({ nest: this.at }, '');
  }

  get canUndo(): boolean {
    return this.at > 0;
  }

  get canRedo(): boolean {
    return this.at < this.top;
  }

  // A question with another in its place: `keys` says what differs; "" where it is the same question.
  record(address: string, keys: string): void {
    const joins = keys === '' || (keys === this.keys && this.now() - this.when < kOneChangeMs);
    if (keys !== '') {
      this.keys = keys;
      this.when = this.now();
    }
    if (joins) return this.entries.replaceState({ nest: this.at }, '', address);
    this.top = ++this.at;
    this.entries.pushState({ nest: this.at }, '', address);
  }

  // The browser went somewhere else: back, forward, or to an address that somebody typed. True where the entry is ours.
  moved(): boolean {
    const number = numberOf(this.entries.state);
    this.keys = '';
    this.at = number ?? this.at + 1;
    this.top = number === null ? this.at : Math.max(this.top, this.at);
    return number !== null;
  }
}

function numberOf(state: unknown): number | null {
  const number = (state as { nest?: unknown } | null)?.nest;
  return typeof number === 'number' ? number : null;
}
