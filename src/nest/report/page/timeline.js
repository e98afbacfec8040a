// The pipeline's timeline: a row for each stage of one copy, a box for each pass, what runs beside it as a thin
// line below. Passes too short for a box of their own become columns in the mixture of their colours.
import { formatDigits, formatSeconds, plural, roundTicks } from './format.js';
import { inkOn, kPartColours, mixColours } from './colour.js';
import { button, legend, listenGestures, make, makeCanvas, mount, textWidth } from './frame.js';
import { firstAfter, gatherSpans, unpackTimeline } from './spans.js';

const kAxis = 26;
const kMostTimeZoom = 20000;
const kKindWords = {
  forward: 'forward', backward: 'backward', weight: 'weight gradients', receive: 'receive',
  'background receive': 'receive in the background', reduce: 'reduce gradients', gather: 'gather parameters',
  norm: 'norm of the gradients', optimizer: 'optimizer', recompute: 'recompute',
};

export function describeSegment(timeline, stage, s) {
  const lines = [`stage ${stage}: ${kKindWords[s.kind]}`];
  if (['forward', 'backward', 'weight', 'receive', 'background receive'].includes(s.kind)) {
    lines.push(`micro-batch ${formatDigits(s.micro)}${timeline.chunks > 1 ? `, chunk ${s.chunk}` : ''}`);
  }
  lines.push(`${formatSeconds(s.from)} to ${formatSeconds(s.to)}: ${formatSeconds(s.to - s.from)}`);
  const again = timeline.recomputed?.[stage]?.[s.chunk] ?? 0;
  if (s.kind === 'backward' && again > 0) lines.push(`of it computed again: ${formatSeconds(again * (s.to - s.from))}`);
  return lines;
}

class TimelineView {
  constructor(frame, timeline) {
    this.frame = frame;
    this.timeline = timeline;
    this.rows = unpackTimeline(timeline);
    this.end = timeline.step_s > 0 ? timeline.step_s : 1;
    [this.from, this.to] = [0, this.end];
    this.cursor = null;  // {row, list, index}
    this.build();
  }

  build() {
    const t = this.timeline;
    this.canvas = makeCanvas(`timeline of one step, ${formatSeconds(t.step_s)}: ${plural(this.rows.length, 'stage')}, ` +
      `${plural(t.micro_batches, 'micro-batch')}. Left and right go from pass to pass, up and ` +
      'down from stage to stage, plus and minus zoom, 0 shows the whole step.');
    const kinds = new Set(this.rows.flatMap((r) => [...r.compute, ...r.beside]).map((s) => s.kind));
    const known = Object.keys(kKindWords).filter((k) => kinds.has(k) && k !== 'background receive');
    if (kinds.has('background receive') && !kinds.has('receive')) known.push('background receive');
    if ((t.recomputed ?? []).some((shares) => shares.some((share) => share > 0))) known.push('recompute');
    const items = known.map((kind) => ({ label: kKindWords[kind], colour: kPartColours[kind] }));
    if (t.chunks > 1) items.push({ label: 'odd chunks', colour: mixColours(kPartColours.forward, '#ffffff', 0.45) });
    const middle = () => this.left + (this.frame.width - this.left) / 2;
    const few = Math.min(this.end, this.passLength() * 3 * (this.rows.length + 4));
    this.frame.element.append(
      make('div', { class: 'nest-tools' },
        button('+', 'zoom in', () => this.zoomAt(middle(), 2)),
        button('\u2212', 'zoom out', () => this.zoomAt(middle(), 0.5)),
        button('whole step', 'show the whole step', () => this.show(0, this.end)),
        button('beginning', 'show the first passes', () => this.show(0, few)),
        button('end', 'show the last passes', () => this.show(this.end - few, this.end)),
        legend(items)),
      this.canvas.node,
      make('p', { class: 'nest-hint' }, this.sentence()));
    listenGestures(this.canvas.node, {
      zoom: (x, y, factor) => this.zoomAt(x, factor),
      pan: (dx) => this.pan(dx),
      zoomed: () => this.to - this.from < this.end * 0.9999,
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => this.leave(),
    });
    this.canvas.node.addEventListener('keydown', (event) => this.key(event));
  }

  sentence() {
    const t = this.timeline;
    let out = `Copy ${formatDigits(t.copy)}, as simulated`;
    if (t.stands_for > 1) out += `; it stands for ${formatDigits(t.stands_for)} copies that are alike`;
    out += '. Gaps are idle time. Ctrl and the wheel, or + and \u2212, zoom; dragging moves.';
    if (t.left_out) {
      out += ` ${formatDigits(t.left_out.segments)} segments from ${formatSeconds(t.left_out.from_s)} to ` +
        `${formatSeconds(t.left_out.to_s)} are left out: they go on as before.`;
    }
    return out;
  }

  passLength() {
    const passes = this.rows.flatMap((r) => r.compute).filter((s) => s.kind === 'forward');
    return passes.length > 0 ? passes.reduce((sum, s) => sum + s.to - s.from, 0) / passes.length : this.end / 10;
  }

  // ---- where things are

  get left() {
    return 12 + textWidth(`stage ${this.rows.length - 1}`, 12);
  }

  get pitch() {
    const n = this.rows.length;
    return n <= 8 ? 36 : n <= 16 ? 28 : n <= 32 ? 20 : n <= 64 ? 14 : 9;
  }

  x(time) {
    return this.left + ((time - this.from) / (this.to - this.from)) * (this.frame.width - this.left - 2);
  }

  time(px) {
    return this.from + ((px - this.left) / (this.frame.width - this.left - 2)) * (this.to - this.from);
  }

  show(from, to) {
    const length = Math.max(this.end / kMostTimeZoom, Math.min(this.end, to - from));
    this.from = Math.max(0, Math.min(this.end - length, from));
    this.to = this.from + length;
    this.frame.redraw();
  }

  zoomAt(px, factor) {
    const at = Math.max(this.from, Math.min(this.to, this.time(px)));
    this.show(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }

  pan(dx) {
    const by = (-dx / (this.frame.width - this.left)) * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  // ---- what the user does

  hover(px, py, event) {
    const row = Math.floor(py / this.pitch);
    const time = this.time(px);
    let found = null;
    if (row >= 0 && row < this.rows.length && px >= this.left) {
      const low = py - row * this.pitch > this.pitch * 0.74;
      for (const list of low ? ['beside', 'compute'] : ['compute', 'beside']) {
        const index = firstAfter(this.rows[row][list], time);
        if (!found && this.rows[row][list][index]?.from <= time) found = { row, list, index };
      }
    }
    const same = (a, b) => a?.row === b?.row && a?.list === b?.list && a?.index === b?.index;
    if (!same(found, this.cursor)) this.frame.redraw();
    this.cursor = found;
    if (found) this.tell(event.clientX, event.clientY, false);
    else this.frame.tip.hide();
  }

  get segment() {
    return this.cursor && this.rows[this.cursor.row][this.cursor.list][this.cursor.index];
  }

  tell(x, y, speak) {
    this.frame.tip.show(describeSegment(this.timeline, this.cursor.row, this.segment), x, y, speak);
  }

  leave() {
    this.frame.tip.hide();
    this.cursor = null;
    this.frame.redraw();
  }

  key(event) {
    const at = this.segment ? (this.segment.from + this.segment.to) / 2 : (this.from + this.to) / 2;
    if (event.key === '+' || event.key === '=') this.zoomAt(this.x(at), 2);
    else if (event.key === '-') this.zoomAt(this.x(at), 0.5);
    else if (event.key === '0') this.show(0, this.end);
    else if (event.key === 'Escape') this.leave();
    else if (!this.move(event.key)) return;
    event.preventDefault();
  }

  move(key) {
    const c = this.cursor ?? { row: 0, list: 'compute', index: -1 };
    const rowTo = { ArrowUp: c.row - 1, ArrowDown: c.row + 1 }[key];
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[key];
    if (rowTo === undefined && by === undefined) return false;
    const row = Math.max(0, Math.min(this.rows.length - 1, rowTo ?? c.row));
    const list = this.rows[row].compute;
    if (list.length === 0) return true;
    const index = rowTo === undefined ? (c.list === 'compute' ? c.index : 0) + by
      : firstAfter(list, this.segment ? this.segment.from : 0);
    this.cursor = { row, list: 'compute', index: Math.max(0, Math.min(list.length - 1, index)) };
    const s = this.segment;
    if (s.from < this.from || s.to > this.to) {
      const length = Math.max(this.to - this.from, s.to - s.from);
      this.show((s.from + s.to - length) / 2, (s.from + s.to + length) / 2);
    }
    const box = this.canvas.node.getBoundingClientRect();
    this.tell(box.left + this.x((s.from + s.to) / 2), box.top + (row + 1) * this.pitch, true);
    this.frame.redraw();
    return true;
  }

  // ---- drawing

  draw() {
    const { theme, width } = this.frame;
    const height = this.rows.length * this.pitch + kAxis;
    const context = this.canvas.fit(width, height);
    this.canvas.node.style.touchAction = this.to - this.from < this.end * 0.9999 ? 'none' : 'pan-y';
    context.font = '12px system-ui, sans-serif';
    this.drawAxis(context, height);
    const every = Math.ceil(11 / this.pitch);
    this.rows.forEach((row, i) => {
      const y = i * this.pitch;
      context.fillStyle = theme.quiet;
      context.textAlign = 'right';
      if (i % every === 0) context.fillText(`stage ${i}`, this.left - 6, y + this.pitch * 0.4 + 5);
      context.save();
      context.beginPath();
      context.rect(this.left, y, width - this.left, this.pitch);
      context.clip();
      this.drawRow(context, row.compute, i, y + 1, this.pitch * 0.7, true);
      this.drawRow(context, row.beside, i, y + this.pitch * 0.76, this.pitch * 0.16, false);
      context.restore();
    });
    this.drawGap(context);
    if (this.segment) this.drawCursor(context);
  }

  drawAxis(context, height) {
    const { theme, width } = this.frame;
    const bottom = height - kAxis;
    context.strokeStyle = theme.grid;
    context.fillStyle = theme.quiet;
    context.lineWidth = 1;
    const ticks = roundTicks(this.from, this.to, (width - this.left) / 95);
    ticks.forEach((tick) => {
      const x = Math.round(this.x(tick)) + 0.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, bottom + 4);
      context.stroke();
      context.textAlign = x > width - 30 ? 'right' : x < this.left + 16 ? 'left' : 'center';
      context.fillText(formatSeconds(tick), x, height - 8);
    });
  }

  colour(s) {
    const own = kPartColours[s.kind];
    const passes = s.kind === 'forward' || s.kind === 'backward' || s.kind === 'weight';
    return passes && s.chunk % 2 === 1 ? mixColours(own, '#ffffff', 0.45) : own;
  }

  drawRow(context, segments, stage, y, height, numbers) {
    const pixels = Math.max(1, Math.floor(this.frame.width - this.left - 2));
    const { boxes, columns } = gatherSpans(segments, this.from, this.to, pixels);
    for (const { x, shares } of columns) {
      let at = y;
      for (const [kind, share] of Object.entries(shares)) {
        context.fillStyle = kPartColours[kind];
        context.fillRect(this.left + x, at, 1, height * Math.min(1, share));
        at += height * Math.min(1, share);
      }
    }
    for (const s of boxes) {
      const [x, end] = [this.x(s.from), this.x(s.to)];
      const w = end - x - (end - x > 4 ? 1 : 0);
      const colour = this.colour(s);
      context.fillStyle = colour;
      context.fillRect(x, y, w, height);
      const again = s.kind === 'backward' ? this.timeline.recomputed?.[stage]?.[s.chunk] ?? 0 : 0;
      if (again > 0) {
        context.fillStyle = kPartColours.recompute;
        context.fillRect(x, y, w * again, height);
      }
      const text = `${s.micro}`;
      if (!numbers || height < 11 || w * (1 - again) < 7 * text.length + 4) continue;
      if (!['forward', 'backward', 'weight'].includes(s.kind)) continue;
      const from = Math.max(this.left, x + w * again);
      const to = Math.min(this.frame.width, x + w);
      if (to - from < 7 * text.length + 2) continue;
      context.fillStyle = inkOn(colour);
      context.textAlign = 'center';
      context.fillText(text, (from + to) / 2, y + height / 2 + 4);
    }
  }

  // What the file leaves out.
  drawGap(context) {
    const gap = this.timeline.left_out;
    if (!gap) return;
    const [x, end] = [Math.max(this.left, this.x(gap.from_s)), Math.min(this.frame.width, this.x(gap.to_s))];
    if (end <= x) return;
    const height = this.rows.length * this.pitch;
    context.fillStyle = this.frame.theme.grid;
    context.fillRect(x, 0, end - x, height);
    context.fillStyle = this.frame.theme.quiet;
    context.textAlign = 'center';
    if (end - x > 90) context.fillText('as before', (x + end) / 2, height / 2 + 4);
  }

  drawCursor(context) {
    const s = this.segment;
    const compute = this.cursor.list === 'compute';
    const y = this.cursor.row * this.pitch + (compute ? 1 : this.pitch * 0.76);
    const x = Math.max(this.left, this.x(s.from));
    context.strokeStyle = this.frame.theme.ink;
    context.lineWidth = 2;
    context.strokeRect(x, y, Math.max(2, this.x(s.to) - x), this.pitch * (compute ? 0.7 : 0.16));
  }
}

export function pipelineTimeline(element, data) {
  if (!data.timeline) {
    return mount(element, (frame) => {
      frame.element.append(make('p', {}, 'The step was not simulated.'));
      return () => {};
    });
  }
  return mount(element, (frame) => {
    const view = new TimelineView(frame, data.timeline);
    return () => view.draw();
  });
}
