// A slider with stops, a box for any other value, and a button that takes the change back. Arrow keys move by one
// stop, Page Up and Down by several, Home and End to the ends. A box that makes no sense keeps what was typed and
// says below it what is wrong.
import { el } from './dom';
import { nearestStop, readNumber } from './scale';
import type { NumberRule } from './scale';

export interface SliderSpec extends NumberRule {
  label: string;
  key: string; // of the request: "changes.memory_bytes"
  stops: number[];
  base: number | null; // the value that nothing has to be said for; null: none
  value: number;
  change(value: number): void;
}

export class Slider {
  readonly node: HTMLElement;
  readonly box = el('input', { type: 'text', inputmode: 'decimal', class: 'box' });
  private readonly range = el('input', { type: 'range', min: '0', step: '1' });
  private readonly back = el('button', { type: 'button', class: 'back', title: 'back to the original' }, '\u21ba');
  private value: number;

  constructor(private readonly spec: SliderSpec) {
    this.value = spec.value;
    this.range.max = `${spec.stops.length - 1}`;
    this.range.setAttribute('aria-label', spec.label);
    this.box.setAttribute('aria-label', `${spec.label} in ${spec.unit}`);
    this.back.setAttribute('aria-label', `${spec.label}: back to the original`);
    this.range.addEventListener('input', () => this.set(spec.stops[Number(this.range.value)] ?? this.value));
    this.box.addEventListener('change', () => this.typed());
    this.back.addEventListener('click', () => {
      if (spec.base !== null) this.set(spec.base);
      this.range.focus();
    });
    this.node = el('div', { class: 'slider' },
      el('span', { class: 'name', title: spec.label }, spec.label), this.box, el('span', { class: 'unit', title: spec.unit }, spec.unit),
      this.back, this.range);
    this.show();
  }

  private typed(): void {
    const value = readNumber(this.box.value, this.spec);
    if (typeof value === 'number') this.set(value);
    else markWrong(this.box, value);
  }

  private set(value: number): void {
    this.value = value;
    this.show();
    this.spec.change(value);
  }

  private show(): void {
    markWrong(this.box, '');
    const shown = this.value / this.spec.perUnit;
    const text = this.spec.whole ? shown.toLocaleString('en-US') : `${Number(shown.toPrecision(4))}`;
    this.box.value = text;
    this.range.value = `${nearestStop(this.spec.stops, this.value)}`;
    this.range.setAttribute('aria-valuetext', `${text} ${this.spec.unit}`);
    const changed = this.spec.base !== null && this.value !== this.spec.base;
    this.back.classList.toggle('hidden', !changed);
    this.node.classList.toggle('changed', changed);
  }
}

// Says what is wrong with an input, below the row that it stands in; "" takes it back.
export function markWrong(input: HTMLElement, what: string): void {
  const row = input.closest('.slider, .pair, details, fieldset') ?? input;
  const id = `wrong-${input.getAttribute('aria-label') ?? input.id}`.replaceAll(/[^\w-]/g, '-');
  document.getElementById(id)?.remove();
  input.toggleAttribute('aria-invalid', false);
  input.removeAttribute('aria-describedby');
  if (what === '') return;
  input.setAttribute('aria-invalid', 'true');
  input.setAttribute('aria-describedby', id);
  const message = el('p', { class: 'wrong', id, role: 'alert' }, what);
  // A fieldset has much else in it.
  if (row instanceof HTMLFieldSetElement) input.after(message);
  else row.append(message);
}
