// A slider with stops, a box for any other value, and a button that takes the change back. Arrow keys move by one
// stop, Page Up and Down by several, Home and End to the ends.
import { el } from './dom';
import { nearestStop } from './scale';

export interface SliderSpec {
  label: string;
  unit: string;
  perUnit: number; // of the value: 1e9 for GB/s
  stops: number[];
  base: number | null; // the value that nothing has to be said for; null: none
  value: number;
  whole: boolean;
  change(value: number): void;
}

export class Slider {
  readonly node: HTMLElement;
  private readonly range = el('input', { type: 'range', min: '0', step: '1' });
  private readonly box = el('input', { type: 'text', inputmode: 'decimal', class: 'box' });
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
      el('span', { class: 'name' }, spec.label), this.box, el('span', { class: 'unit' }, spec.unit), this.back,
      this.range);
    this.show();
  }

  private typed(): void {
    const number = Number(this.box.value.replaceAll(',', '')) * this.spec.perUnit;
    const value = this.spec.whole ? Math.round(number) : number;
    if (Number.isFinite(value) && value > 0) this.set(value);
    else this.show();
  }

  private set(value: number): void {
    this.value = value;
    this.show();
    this.spec.change(value);
  }

  private show(): void {
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
