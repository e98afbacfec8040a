// Memory over time: what a device of each stage holds while the simulated step runs, against what it has.
import { formatMemory, formatSeconds, roundTicks, tickTimes } from './format.js';
import { colourList, kRampColours } from './colour.js';
import { legend, listenGestures, make, makeCanvas, mount, rampLegend, textWidth } from './frame.js';

const kChartHeight = 260;
const kBelow = 26;
const kMostTold = 10;
const kMostNamed = 16;

// Rows of [{from, bytes}], in seconds: what is held from then on.
export function unpackMemory(timeline) {
  return timeline.rows.map((flat) => {
    const row = [];
    for (let i = 0; i + 2 <= flat.length; i += 2) {
      row.push({ from: flat[i] * timeline.tick_s, bytes: flat[i + 1] * timeline.unit_bytes });
    }
    return row;
  });
}

// What a row holds at a time.
export function heldAt(row, time) {
  let [low, high] = [0, row.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (row[middle].from <= time) low = middle;
    else high = middle;
  }
  return row[low]?.bytes ?? 0;
}

class MemoryView {
  constructor(frame, data) {
    this.frame = frame;
    const most = (key) => Math.max(0, ...data.stages.map((s) => s.memory?.[key] ?? 0));
    [this.capacity, this.reserve, this.margin] = [most('capacity_bytes'), most('reserve_bytes'), most('margin_bytes')];
    // What is used; the reserve is drawn apart.
    this.rows = unpackMemory(data.memory_timeline).map((row) => row.map((p) => ({ ...p, bytes: p.bytes - this.reserve })));
    this.end = data.memory_timeline.step_s || 1;
    const peak = Math.max(...this.rows.flat().map((p) => p.bytes));
    this.most = Math.max(this.capacity, peak) * 1.08;
    this.colours = colourList(this.rows.length);
    this.at = null;  // the time that the pointer or the keyboard is at
    this.canvas = makeCanvas(`memory of ${this.rows.length} stages over one step of ${formatSeconds(this.end)}. Left and ` +
      'right move in time, Home and End go to its ends.');
    const few = this.rows.length <= kMostNamed;
    const stages = this.rows.map((_, i) => ({ label: `stage ${i}`, colour: this.colours[i] }));
    frame.element.append(few ? legend(stages) : rampLegend('stage 0', kRampColours, `${this.rows.length - 1}`), this.canvas.node,
      make('p', { class: 'nest-hint' }, data.memory_timeline.pieces
        ? 'A long step: each point is the most that is held in a short piece of time.'
        : 'As simulated, for one copy: what stays, activations of micro-batches in flight, and what a pass needs.'));
    listenGestures(this.canvas.node, { zoom: () => {}, pan: () => {}, zoomed: () => false,
      hover: (x, y, event) => this.tell(this.time(x), event.clientX, event.clientY, false), leave: () => this.leave() });
    this.canvas.node.addEventListener('keydown', (event) => this.key(event));
  }

  get left() {
    return 10 + textWidth(formatMemory(this.most), 12);
  }

  x(time) {
    return this.left + (time / this.end) * (this.frame.width - this.left - 4);
  }

  y(bytes) {
    return kChartHeight - (bytes / this.most) * (kChartHeight - 6);
  }

  time(px) {
    return Math.max(0, Math.min(this.end, ((px - this.left) / (this.frame.width - this.left - 4)) * this.end));
  }

  key(event) {
    const by = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1, Home: -2, End: 2 }[event.key];
    if (event.key === 'Escape') this.leave();
    if (by === undefined) return;
    event.preventDefault();
    const time = Math.max(0, Math.min(this.end, (this.at ?? 0) + by * this.end));
    const box = this.canvas.node.getBoundingClientRect();
    this.tell(time, box.left + this.x(time), box.top + kChartHeight / 2, true);
  }

  tell(time, x, y, speak) {
    this.at = time;
    const held = this.rows.map((row, i) => ({ i, bytes: heldAt(row, time) })).sort((a, b) => b.bytes - a.bytes);
    const lines = held.slice(0, kMostTold).map((h) => `stage ${h.i}: ${formatMemory(h.bytes)}`);
    if (held.length > kMostTold) lines.push(`${held.length - kMostTold} others hold less`);
    this.frame.tip.show([`after ${formatSeconds(time)}`, ...lines], x, y, speak);
    this.frame.redraw();
  }

  leave() {
    this.frame.tip.hide();
    this.at = null;
    this.frame.redraw();
  }

  draw() {
    const { theme, width } = this.frame;
    const context = this.canvas.fit(width, kChartHeight + kBelow);
    this.canvas.node.style.touchAction = 'pan-y';
    context.font = '12px system-ui, sans-serif';
    this.drawGrid(context, theme, width);
    this.rows.forEach((row, i) => this.drawLine(context, row, this.colours[i]));
    if (this.at === null) return;
    context.strokeStyle = theme.ink;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.x(this.at), 0);
    context.lineTo(this.x(this.at), kChartHeight);
    context.stroke();
  }

  drawGrid(context, theme, width) {
    const line = (x1, y1, x2, y2) => {
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
    };
    context.lineWidth = 1;
    context.strokeStyle = theme.grid;
    context.fillStyle = theme.quiet;
    const gib = 2 ** 30;
    for (const tick of roundTicks(0, this.most / gib, 5)) {
      const y = Math.round(this.y(tick * gib)) + 0.5;
      line(this.left, y, width, y);
      context.textAlign = 'right';
      context.fillText(tick === 0 ? '0' : formatMemory(tick * gib), this.left - 6, Math.max(10, y + 4));
    }
    const times = roundTicks(0, this.end, (width - this.left) / 95);
    const texts = tickTimes(times);
    times.forEach((tick, i) => {
      const x = Math.round(this.x(tick)) + 0.5;
      line(x, 0, x, kChartHeight + 4);
      context.textAlign = x > width - 30 ? 'right' : x < this.left + 16 ? 'left' : 'center';
      context.fillText(texts[i], x, kChartHeight + 18);
    });
    if (!(this.capacity > 0)) return;
    this.drawApart(context, theme, width);
    context.strokeStyle = theme.ink;
    context.fillStyle = theme.ink;
    context.setLineDash([5, 4]);
    const top = this.y(this.capacity);
    line(this.left, top, width, top);
    context.setLineDash([]);
    context.textAlign = 'right';
    context.fillText(`capacity ${formatMemory(this.capacity)}`, width - 4, top - 5);
  }

  // What cannot be used, at the end of what the device has: bands of the reserve and of the margin.
  drawApart(context, theme, width) {
    const [top, middle, bottom] = [0, this.margin, this.margin + this.reserve].map((bytes) => this.y(this.capacity - bytes));
    const fill = (from, to, colour) => {
      context.fillStyle = colour;
      context.fillRect(this.left, from, width - this.left, to - from);
    };
    fill(top, middle, theme.grid);
    fill(middle, bottom, theme.line);
    const words = [...(this.margin > 0 ? [`margin ${formatMemory(this.margin)}, kept free`] : []),
      ...(this.reserve > 0 ? [`${this.margin > 0 ? 'below it ' : ''}reserve ${formatMemory(this.reserve)}`] : [])].join('; ');
    context.textAlign = 'left';
    context.fillStyle = theme.quiet;
    // In the margin where that is high enough, else above it.
    context.fillText(words, this.left + 6, middle - top >= 15 ? (top + middle) / 2 + 4 : top - 5);
  }

  drawLine(context, row, colour) {
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.beginPath();
    row.forEach((point, i) => {
      const [x, y] = [this.x(point.from), this.y(point.bytes)];
      if (i === 0) context.moveTo(x, y);
      else context.lineTo(x, this.y(row[i - 1].bytes));
      context.lineTo(x, y);
    });
    context.lineTo(this.x(this.end), this.y(row.at(-1).bytes));
    context.stroke();
  }
}

export function memoryTimeline(element, data) {
  return mount(element, (frame) => {
    if (!data.memory_timeline) {
      frame.element.append(make('p', { class: 'nest-quiet' }, 'The step was not simulated.'));
      return () => {};
    }
    const view = new MemoryView(frame, data);
    return () => view.draw();
  });
}
