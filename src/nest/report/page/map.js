// The placement map: every device where it stands in the network, coloured by what it does in the plan. Where
// devices would be smaller than a dot, whole domains are drawn, in stripes of what their devices do.
import { formatDigits, plural } from './format.js';
import { inkOn, mixColours } from './colour.js';
import { button, kNarrow, listenGestures, make, makeCanvas, mount, placeLegend } from './frame.js';
import { domainOf, layoutDevices } from './layout.js';
import { borderOf, describeLoads, mapLegend, uplinkLoads } from './uplinks.js';
import { colourings, countValues, describeDevice, deviceRoles } from './devices.js';

const kSmallestDevice = 2.5;  // pixels
const kLargestDevice = 52;
const kMostZoom = 80;

class PlacementView {
  constructor(frame, data, options) {
    this.frame = frame;
    this.data = data;
    this.roles = deviceRoles(data);
    this.list = colourings(data, this.roles);
    this.chosen = this.list.find((c) => c.key === options.colourBy) ?? this.list.find((c) => c.count > 1) ??
      this.list[0];
    this.layout = null;
    [this.zoom, this.left, this.top, this.scale, this.height] = [1, 0, 0, 1, 1];
    this.cursor = -1;
    this.picture = document.createElement('canvas');
    this.kept = '';
    this.options = options;
    this.loads = uplinkLoads(data);
    this.showsLinks = options.links ?? true;
    this.build();
  }

  build() {
    const select = make('select', { 'aria-label': 'colour devices by', onchange: () => {
      this.chosen = this.list[select.selectedIndex];
      this.options.onColourBy?.(this.chosen.key);
      this.frame.redraw();
    } }, ...this.list.map((c) => make('option', {}, c.label)));
    select.selectedIndex = this.list.indexOf(this.chosen);
    const idle = this.data.cluster.devices - this.data.placement.used;
    const label = `placement map: ${plural(this.data.cluster.devices, 'device')}, ` +
      `${formatDigits(this.data.placement.used)} used, ${formatDigits(idle)} idle. Arrow keys go from device to ` +
      'device, Page Up and Page Down from domain to domain, plus and minus zoom, 0 shows all.';
    this.canvas = makeCanvas(label);
    const links = make('input', { type: 'checkbox', onchange: () => {
      this.showsLinks = links.checked;
      this.options.onLinks?.(links.checked);
      this.frame.redraw();
    } });
    links.checked = this.showsLinks;
    this.legend = make('div');
    const middle = () => [this.frame.width / 2, this.height / 2];
    this.frame.element.append(
      make('div', { class: 'nest-tools' }, make('label', {}, 'Colour by ', select),
        button('+', 'zoom in', () => this.zoomAt(...middle(), 1.6)),
        button('\u2212', 'zoom out', () => this.zoomAt(...middle(), 1 / 1.6)),
        button('all', 'show all devices', () => this.showAll()),
        this.loads?.any ? make('label', { class: 'nest-check' }, links, ' traffic') : null),
      this.canvas.node,
      make('p', { class: 'nest-hint' }, 'Point at a device for what it does. Ctrl and the wheel, or + and \u2212, ' +
        'zoom; dragging moves; arrow keys go from device to device.'));
    listenGestures(this.canvas.node, {
      zoom: (x, y, factor) => this.zoomAt(x, y, factor),
      pan: (dx, dy) => this.pan(dx, dy),
      zoomed: () => this.zoom > 1.001,
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => this.leave(),
    });
    this.canvas.node.addEventListener('keydown', (event) => this.key(event));
  }

  // ---- where things are

  fit() {
    const { width } = this.frame;
    const room = width < kNarrow ? width * 1.25 : Math.min(620, width * 0.6);
    // Gaps depend on how large devices come out, which depends on the gaps: the second time is near enough.
    for (const unit of [1, null]) {
      this.layout = layoutDevices(this.data.levels, width / room, unit ?? this.scale);
      this.scale = Math.min(width / this.layout.width, room / this.layout.height, kLargestDevice);
    }
    this.height = Math.max(60, Math.ceil(this.layout.height * this.scale));
    this.fittedWidth = width;
  }

  // From widths of a device to pixels.
  get unit() {
    return this.scale * this.zoom;
  }

  get originX() {
    const spare = this.frame.width - this.layout.width * this.unit;
    return spare > 0 ? spare / 2 : this.left;
  }

  clamp() {
    const least = (size, view) => Math.min(0, view - size);
    this.left = Math.min(0, Math.max(least(this.layout.width * this.unit, this.frame.width), this.left));
    this.top = Math.min(0, Math.max(least(this.layout.height * this.unit, this.height), this.top));
  }

  zoomAt(x, y, factor) {
    const before = this.unit;
    const originX = this.originX;
    this.zoom = Math.max(1, Math.min(kMostZoom, this.zoom * factor));
    const ratio = this.unit / before;
    this.left = x - (x - originX) * ratio;
    this.top = y - (y - this.top) * ratio;
    this.clamp();
    this.frame.redraw();
  }

  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.clamp();
    this.frame.redraw();
  }

  showAll() {
    [this.zoom, this.left, this.top] = [1, 0, 0];
    this.frame.redraw();
  }

  // The device at a point; -1 where there is none.
  find(px, py) {
    if (!this.layout) return -1;
    const [x, y] = [(px - this.originX) / this.unit, (py - this.top) / this.unit];
    const slack = 0.07;
    let candidates = [0, 1];
    for (let l = this.layout.levels.length - 1; l >= 0; --l) {
      const level = this.layout.levels[l];
      let found = -1;
      for (let d = candidates[0]; d < candidates[1] && found < 0; ++d) {
        if (x >= level.x[d] && x <= level.x[d] + level.w && y >= level.y[d] && y <= level.y[d] + level.h) found = d;
      }
      if (found < 0) return -1;
      candidates = [level.child[found], level.child[found + 1]];
    }
    for (let d = candidates[0]; d < candidates[1]; ++d) {
      const [dx, dy] = [x - this.layout.x[d], y - this.layout.y[d]];
      if (dx >= -slack && dx <= 1 + slack && dy >= -slack && dy <= 1 + slack) return d;
    }
    return -1;
  }

  // ---- what the user does

  hover(px, py, event) {
    const device = this.find(px, py);
    if (device !== this.cursor) {
      this.cursor = device;
      this.frame.redraw();
    }
    if (device < 0) this.frame.tip.hide();
    else this.frame.tip.show(this.describe(device), event.clientX, event.clientY);
  }

  describe(device) {
    const lines = describeDevice(this.data, this.roles, this.layout, device);
    return this.loads ? [...lines, ...describeLoads(this.loads, this.data, this.layout, device)] : lines;
  }

  leave() {
    this.frame.tip.hide();
    if (this.cursor >= 0) this.frame.redraw();
    this.cursor = -1;
  }

  key(event) {
    const middle = [this.frame.width / 2, this.height / 2];
    const { count } = this.roles;
    const node = this.layout.levels[0];
    const own = domainOf(node, Math.max(0, this.cursor));
    const rowOf = (d, by) => this.below(d, by);
    const moves = {
      ArrowRight: () => this.cursor + 1, ArrowLeft: () => this.cursor - 1,
      ArrowDown: () => rowOf(this.cursor, 1), ArrowUp: () => rowOf(this.cursor, -1),
      PageDown: () => node.first[Math.min(own + 1, node.first.length - 2)],
      PageUp: () => node.first[Math.max(own - 1, 0)], Home: () => 0, End: () => count - 1,
    };
    if (event.key === '+' || event.key === '=') this.zoomAt(...this.cursorPoint(middle), 1.6);
    else if (event.key === '-') this.zoomAt(...this.cursorPoint(middle), 1 / 1.6);
    else if (event.key === '0') this.showAll();
    else if (event.key === 'Escape') this.leave();
    else if (moves[event.key]) this.moveTo(Math.max(0, Math.min(count - 1, moves[event.key]())));
    else return;
    event.preventDefault();
  }

  // The device right below or above in the map, else the same one.
  below(device, by) {
    const x = this.layout.x[Math.max(0, device)];
    const y = this.layout.y[Math.max(0, device)];
    let [best, least] = [Math.max(0, device), Infinity];
    for (let d = 0; d < this.roles.count; ++d) {
      const [dx, dy] = [Math.abs(this.layout.x[d] - x), (this.layout.y[d] - y) * by];
      if (dy < 0.5) continue;
      const cost = dy + 3 * dx;
      if (cost < least) [best, least] = [d, cost];
    }
    return best;
  }

  cursorPoint(otherwise) {
    if (this.cursor < 0) return otherwise;
    return [this.originX + (this.layout.x[this.cursor] + 0.5) * this.unit,
      this.top + (this.layout.y[this.cursor] + 0.5) * this.unit];
  }

  moveTo(device) {
    this.cursor = device;
    const [px, py] = this.cursorPoint([0, 0]);
    if (px < 10 || px > this.frame.width - 10) this.left += this.frame.width / 2 - px;
    if (py < 10 || py > this.height - 10) this.top += this.height / 2 - py;
    this.clamp();
    const [x, y] = this.cursorPoint([0, 0]);
    const box = this.canvas.node.getBoundingClientRect();
    this.frame.tip.show(this.describe(device), box.left + x, box.top + y, true);
    this.frame.redraw();
  }

  // ---- drawing

  draw() {
    if (this.fittedWidth !== this.frame.width) {
      this.fit();
      this.clamp();
    }
    this.context = this.canvas.fit(this.frame.width, this.height);
    this.canvas.node.style.touchAction = this.zoom > 1.001 ? 'none' : 'pan-y';
    this.view = [-this.originX / this.unit, -this.top / this.unit, (this.frame.width - this.originX) / this.unit,
      (this.height - this.top) / this.unit];
    // Pointing at devices leaves the picture as it is: it is kept.
    const now = [this.canvas.node.width, this.height, this.unit, this.originX, this.top, this.chosen.key,
      this.showsLinks, this.frame.theme.dark].join();
    if (now === this.kept) {
      this.context.drawImage(this.picture, 0, 0, this.frame.width, this.height);
    } else {
      this.drawAll();
      this.picture.width = this.canvas.node.width;
      this.picture.height = this.canvas.node.height;
      this.picture.getContext('2d').drawImage(this.canvas.node, 0, 0);
      this.kept = now;
    }
    if (this.cursor >= 0) this.scaled(() => this.drawCursor());
  }

  // Draws in widths of a device.
  scaled(draw) {
    this.context.save();
    this.context.translate(this.originX, this.top);
    this.context.scale(this.unit, this.unit);
    draw();
    this.context.restore();
  }

  drawAll() {
    this.scaled(() => {
      this.drawBorders();
      if (this.unit >= kSmallestDevice) this.drawDevices();
      else this.drawDomains();
    });
    this.drawLabels();
    const narrow = this.frame.width < kNarrow;
    placeLegend(this.frame, this.canvas.node, this.legend);
    this.legend.replaceChildren(mapLegend(this.data, this.chosen, this.showsLinks ? this.loads : null, this.frame.theme, narrow));
  }

  visible(x, y, w, h) {
    return x + w >= this.view[0] && y + h >= this.view[1] && x <= this.view[2] && y <= this.view[3];
  }

  drawBorders() {
    const { context, frame } = this;
    for (let l = this.layout.levels.length - 1; l >= 0; --l) {
      const level = this.layout.levels[l];
      if (level.head === 0 || level.h * this.unit < 6) continue;
      const plain = mixColours(frame.theme.surface, frame.theme.ink, Math.min(0.45, 0.16 + 0.1 * l));
      for (let d = 0; d < level.x.length; ++d) {
        if (!this.visible(level.x[d], level.y[d], level.w, level.h)) continue;
        const busy = this.border(l, d);
        const width = (busy ? Math.min(busy.width, 0.05 * level.h * this.unit + 0.5) : 1) / this.unit;
        context.lineWidth = width;
        context.strokeStyle = busy?.colour ?? plain;
        context.strokeRect(level.x[d] + width / 2, level.y[d] + width / 2, level.w - width, level.h - width);
      }
    }
  }

  // How the links out of a domain are shown, if they are.
  border(level, domain) {
    return this.showsLinks && this.loads ? borderOf(this.loads, level, domain, this.frame.theme) : null;
  }

  colour(value) {
    return value < 0 ? this.frame.theme.idle : this.chosen.colours[value];
  }

  drawDevices() {
    const { context, layout } = this;
    const lists = new Map();
    for (let d = 0; d < this.roles.count; ++d) {
      if (!this.visible(layout.x[d], layout.y[d], 1, 1)) continue;
      const value = this.chosen.of(d);
      if (!lists.has(value)) lists.set(value, []);
      lists.get(value).push(d);
    }
    for (const [value, devices] of lists) {
      context.fillStyle = this.colour(value);
      for (const d of devices) context.fillRect(layout.x[d], layout.y[d], 1, 1);
      if (value >= 0) continue;
      context.strokeStyle = this.frame.theme.line;
      context.lineWidth = 1 / this.unit;
      for (const d of devices) context.strokeRect(layout.x[d], layout.y[d], 1, 1);
    }
  }

  // The innermost level whose domains can be seen, in stripes.
  drawDomains() {
    const l = Math.max(0, this.layout.levels.findIndex((level) => Math.min(level.w, level.h) * this.unit >= 4));
    const level = this.layout.levels[l];
    for (let d = 0; d < level.x.length; ++d) {
      if (!this.visible(level.x[d], level.y[d], level.w, level.h)) continue;
      const [first, end] = [level.first[d], level.first[d + 1]];
      const inset = 0.06 * level.w;
      let x = level.x[d] + inset;
      for (const [value, count] of countValues(this.chosen, first, end)) {
        const w = ((level.w - 2 * inset) * count) / (end - first);
        this.context.fillStyle = this.colour(value);
        this.context.fillRect(x, level.y[d] + inset, w, level.h - 2 * inset);
        x += w;
      }
    }
  }

  // The device, and the others of its cell.
  drawCursor() {
    const { context, layout, roles, cursor } = this;
    context.strokeStyle = this.frame.theme.ink;
    const outline = (d, width) => {
      context.lineWidth = width / this.unit;
      context.strokeRect(layout.x[d], layout.y[d], 1, 1);
    };
    if (roles.stage[cursor] >= 0) {
      for (let d = 0; d < roles.count; ++d) {
        if (roles.stage[d] === roles.stage[cursor] && roles.copy[d] === roles.copy[cursor]) outline(d, 1.2);
      }
    }
    outline(cursor, 3);
  }

  drawLabels() {
    const { context, layout } = this;
    const put = (text, x, y, size, colour, room, align = 'left') => {
      context.font = `${size}px system-ui, sans-serif`;
      context.fillStyle = colour;
      context.textAlign = align;
      if (context.measureText(text).width <= room) context.fillText(text, x, y);
    };
    layout.levels.forEach((level, l) => {
      const size = Math.min(13, level.head * this.unit * 0.82);
      if (size < 8.5 || level.head === 0) return;
      for (let d = 0; d < level.x.length; ++d) {
        if (!this.visible(level.x[d], level.y[d], level.w, level.h)) continue;
        const name = level.x.length > 1 ? `${this.data.levels[l].name} ${d}` : this.data.levels[l].name;
        const busy = this.border(l, d);
        context.font = `${size}px system-ui, sans-serif`;
        const room = level.w * this.unit - 12;
        const said = busy && context.measureText(`${name}: ${busy.text}`).width <= room ? `${name}: ${busy.text}` : name;
        put(said, this.originX + level.x[d] * this.unit + 6, this.top + level.y[d] * this.unit + size + 2, size,
          this.frame.theme.quiet, room + 4);
      }
    });
    if (this.unit < 24) return;
    const size = Math.min(14, this.unit * 0.38);
    for (let d = 0; d < this.roles.count; ++d) {
      if (!this.visible(layout.x[d], layout.y[d], 1, 1)) continue;
      const value = this.chosen.of(d);
      const [x, y] = [this.originX + (layout.x[d] + 0.5) * this.unit, this.top + (layout.y[d] + 0.5) * this.unit];
      put(`${d}`, x, y + size * 0.35, size, value < 0 ? this.frame.theme.quiet : inkOn(this.colour(value)),
        this.unit - 3, 'center');
    }
  }
}

export function placementMap(element, data, options = {}) {
  return mount(element, (frame) => {
    const view = new PlacementView(frame, data, options);
    return () => view.draw();
  });
}
