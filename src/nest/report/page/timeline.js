// The pipeline's timeline: a row for each stage of one copy, a box for each pass, what runs beside it as a thin
// line below. Passes too short for a box of their own become columns in the mixture of their colours.
import { formatDigits, formatSeconds, plural, roundTicks, tickTimes } from './format.js';
import { inkOn, kPartColours, mixColours } from './colour.js';
import { button, legend, listenGestures, make, makeCanvas, mount, placeLegend, textWidth } from './frame.js';
import { kKindWords, kPasses, describeSegment, recomputedSeconds } from './passes.js';
import { chooseWindows, firstAfter, gatherSpans, shortPass, unpackTimeline } from './spans.js';

const kAxis = 26;
const kMostTimeZoom = 20000;

class TimelineView {
  // `waiting`: the share of the step, at its end, in which all ranks wait for the slowest.
  constructor(frame, timeline, waiting) {
    this.frame = frame;
    this.timeline = timeline;
    this.rows = unpackTimeline(timeline);
    this.short = shortPass(this.rows);
    this.end = timeline.step_s > 0 ? timeline.step_s : 1;
    this.waitFrom = this.end * (1 - waiting);
    [this.from, this.to] = [0, this.end];
    this.free = false;  // the user has chosen what to see; else all of it, or its two ends where all is too much
    this.cursor = null;  // {row, list, index}
    this.build();
  }

  build() {
    const t = this.timeline;
    this.canvas = makeCanvas(`timeline of one step, ${formatSeconds(t.step_s)}: ${plural(this.rows.length, 'stage')}, ` +
      `${plural(t.micro_batches, 'micro-batch')}. Left and right go from pass to pass, up and ` +
      'down from stage to stage, plus and minus zoom, 0 shows what was there at first.');
    const kinds = new Set(this.rows.flatMap((r) => [...r.compute, ...r.beside, ...r.back]).map((s) => s.kind));
    this.known = Object.keys(kKindWords).filter((k) => kinds.has(k) && k !== 'background receive');
    if (kinds.has('background receive') && !kinds.has('receive')) this.known.push('background receive');
    if ((t.recomputed ?? []).some((shares) => shares.some((share) => share > 0))) this.known.push('recompute');
    this.legend = make('div');
    const middle = () => this.left + (this.frame.width - this.left) / 2;
    const few = Math.min(this.end, this.passLength() * 3 * (this.rows.length + 4));
    this.frame.element.append(
      make('div', { class: 'nest-tools' },
        button('+', 'zoom in', () => this.zoomAt(middle(), 2)),
        button('\u2212', 'zoom out', () => this.zoomAt(middle(), 0.5)),
        button('both ends', 'show the beginning and the end of a long step', () => this.reset()),
        button('whole step', 'show the whole step', () => this.show(0, this.end)),
        button('beginning', 'show the first passes', () => this.show(0, few)),
        button('end', 'show the last passes', () => this.show(this.waitFrom - few, Math.min(this.end, this.waitFrom + few / 8)))),
      this.canvas.node,
      this.hint = make('p', { class: 'nest-hint' }));
    listenGestures(this.canvas.node, {
      zoom: (x, y, factor) => this.zoomAt(x, factor),
      pan: (dx) => this.pan(dx),
      zoomed: () => this.free && this.to - this.from < this.end * 0.9999,
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => this.leave(),
    });
    this.canvas.node.addEventListener('keydown', (event) => this.key(event));
  }

  // Every colour that is drawn.
  items() {
    const items = this.known.map((kind) => ({ label: kKindWords[kind], colour: kPartColours[kind] }));
    if (this.timeline.chunks > 1) {
      const passes = this.known.filter((kind) => kPasses.includes(kind));
      items.push({ label: 'odd chunks', colours: passes.map((kind) => this.colour({ kind, chunk: 1 })) });
    }
    if (this.waitFrom < this.end) items.push({ label: 'waiting for the slowest rank', colour: this.frame.theme.grid });
    return items;
  }

  sentence() {
    const t = this.timeline;
    let out = `Copy ${formatDigits(t.copy)}, as simulated`;
    if (t.stands_for > 1) out += `; it stands for ${formatDigits(t.stands_for)} copies that are alike`;
    if (this.windows.length > 1) {
      const [a, b] = this.windows;
      out += `. What is left out from ${formatSeconds(a.to)} to ${formatSeconds(b.from)} goes on as before it`;
      if (b.to - b.from > 1.01 * (a.to - a.from)) out += '. The end is drawn closer together than the beginning';
    }
    if (this.waitFrom < this.end) out += `. The last ${formatSeconds(this.end - this.waitFrom)} are waiting for the slowest of all ranks`;
    out += '. Gaps are idle time. Ctrl and the wheel, or + and \u2212, zoom; dragging moves.';
    if (t.left_out && this.windows.length === 1) {
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

  // Parts of the step beside each other: [{from, to, x, end}], the latter two in pixels.
  get windows() {
    const [left, end] = [this.left, this.frame.width - 2];
    if (this.free) return [{ from: this.from, to: this.to, x: left, end }];
    const room = end - left;
    return chooseWindows(this.rows.length, this.short, this.end, this.timeline.pipeline_s ?? this.end, room, this.waitFrom)
      .map((w) => ({ ...w, x: left + w.x, end: left + w.end }));
  }

  x(time, w) {
    return w.x + ((time - w.from) / (w.to - w.from)) * (w.end - w.x);
  }

  // The window at a pixel, or the one nearest to it.
  windowAt(px) {
    return this.windows.findLast((w) => px >= w.x) ?? this.windows[0];
  }

  windowOf(time) {
    const all = this.windows;
    return all.find((w) => time >= w.from && time <= w.to) ?? all[0];
  }

  time(px) {
    const w = this.windowAt(px);
    return w.from + ((px - w.x) / (w.end - w.x)) * (w.to - w.from);
  }

  reset() {
    this.free = false;
    [this.from, this.to] = [0, this.end];
    this.frame.redraw();
  }

  show(from, to) {
    this.free = true;
    const length = Math.max(this.end / kMostTimeZoom, Math.min(this.end, to - from));
    this.from = Math.max(0, Math.min(this.end - length, from));
    this.to = this.from + length;
    this.frame.redraw();
  }

  zoomAt(px, factor) {
    if (!this.free) {
      const w = this.windowAt(px);
      [this.from, this.to] = [w.from, w.to];
    }
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
    const inside = px <= this.windowAt(px).end + 1;
    let found = null;
    if (row >= 0 && row < this.rows.length && px >= this.left && inside) {
      const low = py - row * this.pitch > this.pitch * 0.74;
      for (const list of low ? ['beside', 'compute'] : ['compute', 'beside']) {
        let index = firstAfter(this.rows[row][list], time);
        if (this.rows[row][list][index]?.half === 0 && py - row * this.pitch > 1 + this.pitch * 0.35) index += 1;
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
    const s = this.segment;
    const first = this.windows[0];
    const at = s ? (s.from + s.to) / 2 : (first.from + first.to) / 2;
    const px = this.x(at, this.windowOf(at));
    if (event.key === '+' || event.key === '=') this.zoomAt(px, 2);
    else if (event.key === '-') this.zoomAt(px, 0.5);
    else if (event.key === '0') this.reset();
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
    const middle = (s.from + s.to) / 2;
    if (!this.windows.some((w) => s.from >= w.from - 1e-12 && s.to <= w.to + 1e-12)) {
      const w = this.windowOf(middle);
      const length = Math.max(w.to - w.from, s.to - s.from);
      this.show(middle - length / 2, middle + length / 2);
    }
    const box = this.canvas.node.getBoundingClientRect();
    this.tell(box.left + this.x(middle, this.windowOf(middle)), box.top + (row + 1) * this.pitch, true);
    this.frame.redraw();
    return true;
  }

  // ---- drawing

  draw() {
    const { theme, width } = this.frame;
    const height = this.rows.length * this.pitch + kAxis;
    const context = this.canvas.fit(width, height);
    this.canvas.node.style.touchAction = this.free && this.to - this.from < this.end * 0.9999 ? 'none' : 'pan-y';
    const { windows } = this;
    this.hint.textContent = this.sentence();
    placeLegend(this.frame, this.canvas.node, this.legend);
    this.legend.replaceChildren(legend(this.items()));
    context.font = '12px system-ui, sans-serif';
    for (const w of windows) this.drawAxis(context, height, w);
    // What is gathered beside the next step may reach into it.
    for (const w of windows) this.drawGap(context, w, this.waitFrom, this.end, 'waiting for the slowest rank');
    const every = Math.ceil(11 / this.pitch);
    this.rows.forEach((row, i) => {
      const y = i * this.pitch;
      context.fillStyle = theme.quiet;
      context.textAlign = 'right';
      if (i % every === 0) context.fillText(`stage ${i}`, this.left - 6, y + this.pitch * 0.4 + 5);
      for (const w of windows) {
        context.save();
        context.beginPath();
        context.rect(w.x, y, w.end - w.x, this.pitch);
        context.clip();
        this.drawRow(context, w, row.compute, i, y + 1, this.pitch * 0.7, true);
        const thin = this.pitch * (row.back.length > 0 ? 0.1 : 0.16);
        this.drawRow(context, w, row.beside, i, y + this.pitch * 0.76, thin, false);
        this.drawRow(context, w, row.back, i, y + this.pitch * 0.88, this.pitch * 0.1, false);
        context.restore();
      }
    });
    const gap = this.timeline.left_out;
    if (gap) for (const w of windows) this.drawGap(context, w, gap.from_s, gap.to_s, 'as before');
    if (windows.length > 1) this.drawBreak(context, windows, height - kAxis);
    if (this.segment) this.drawCursor(context);
  }

  // Dots between the beginning and the end.
  drawBreak(context, windows, bottom) {
    context.fillStyle = this.frame.theme.quiet;
    const x = (windows[0].end + windows[1].x) / 2;
    for (const by of [-6, 0, 6]) {
      context.beginPath();
      context.arc(x + by, bottom / 2, 1.6, 0, 7);
      context.fill();
    }
  }

  drawAxis(context, height, w) {
    const { theme } = this.frame;
    const bottom = height - kAxis;
    context.strokeStyle = theme.grid;
    context.fillStyle = theme.quiet;
    context.lineWidth = 1;
    // Two at least, so that a short window says how long it is.
    let ticks = [];
    for (let count = (w.end - w.x) / 95; ticks.length < 2 && count < 8; ++count) ticks = roundTicks(w.from, w.to, count);
    const texts = tickTimes(ticks);
    ticks.forEach((tick, i) => {
      const x = Math.round(this.x(tick, w)) + 0.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, bottom + 4);
      context.stroke();
      context.textAlign = x > w.end - 30 ? 'right' : x < w.x + 16 ? 'left' : 'center';
      context.fillText(texts[i], x, height - 8);
    });
  }

  colour(s) {
    const own = kPartColours[s.kind];
    return kPasses.includes(s.kind) && s.chunk % 2 === 1 ? mixColours(own, '#ffffff', 0.45) : own;
  }

  drawRow(context, w, segments, stage, y, height, numbers) {
    const pixels = Math.max(1, Math.floor(w.end - w.x));
    const { boxes, columns } = gatherSpans(segments, w.from, w.to, pixels);
    for (const { x, shares } of columns) {
      let at = y;
      for (const [kind, share] of Object.entries(shares)) {
        context.fillStyle = kPartColours[kind];
        context.fillRect(w.x + x, at, 1, height * Math.min(1, share));
        at += height * Math.min(1, share);
      }
    }
    for (const s of boxes) {
      const [x, end] = [this.x(s.from, w), this.x(s.to, w)];
      const wide = end - x - (end - x > 4 ? 1 : 0);
      const colour = this.colour(s);
      const [top, tall] = this.band(s, y, height);
      context.fillStyle = colour;
      context.fillRect(x, top, wide, tall);
      const again = Math.min(1, recomputedSeconds(this.timeline, stage, s) / (s.to - s.from));
      if (again > 0) {
        context.fillStyle = kPartColours.recompute;
        context.fillRect(x, top, wide * again, tall);
      }
      const text = `${s.micro}`;
      if (!numbers || tall < 11 || wide * (1 - again) < 7 * text.length + 4) continue;
      if (!kPasses.includes(s.kind)) continue;
      const from = Math.max(w.x, x + wide * again);
      const to = Math.min(w.end, x + wide);
      if (to - from < 7 * text.length + 2) continue;
      context.fillStyle = inkOn(colour);
      context.textAlign = 'center';
      context.fillText(text, (from + to) / 2, top + tall / 2 + 4);
    }
  }

  // Where a segment lies in its row: passes beside each other share it.
  band(s, y, height) {
    if (s.half === undefined) return [y, height];
    return [y + (s.half * height) / 2, height / 2 - (s.half === 0 ? 1 : 0)];
  }

  // Where nothing is to be drawn, and why.
  drawGap(context, w, from, to, why) {
    const [x, end] = [Math.max(w.x, this.x(from, w)), Math.min(w.end, this.x(to, w))];
    if (end <= x) return;
    const height = this.rows.length * this.pitch;
    context.fillStyle = this.frame.theme.grid;
    context.fillRect(x, 0, end - x, height);
    context.fillStyle = this.frame.theme.quiet;
    context.textAlign = 'center';
    if (end - x > textWidth(why, 12) + 8) context.fillText(why, (x + end) / 2, height / 2 + 4);
  }

  drawCursor(context) {
    const s = this.segment;
    const compute = this.cursor.list === 'compute';
    const [y, height] = this.band(s, this.cursor.row * this.pitch + (compute ? 1 : this.pitch * 0.76),
      this.pitch * (compute ? 0.7 : 0.16));
    context.strokeStyle = this.frame.theme.ink;
    context.lineWidth = 2;
    const w = this.windowOf((s.from + s.to) / 2);
    const x = Math.max(w.x, this.x(s.from, w));
    context.strokeRect(x, y, Math.max(2, Math.min(w.end, this.x(s.to, w)) - x), height);
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
    const waiting = (data.predicted?.stragglers_s ?? 0) / (data.predicted?.step_s ?? 1);
    const view = new TimelineView(frame, data.timeline, waiting);
    return () => view.draw();
  });
}
