// The question, on the left: model, cluster, sliders and choices. Tells of every change at once.
import { formatScaled } from '@views/format.js';
import { ApiError, describeCluster, describeModel } from './api';
import type { Catalog, ClusterInfo, ModelInfo } from './api';
import { el } from './dom';
import { aroundBase, deviceStops, powersOfTwo } from './scale';
import { Slider } from './slider';
import { kDefaults } from './state';
import type { State } from './state';

const kMostDevices = 262_144;
const kGiB = 2 ** 30;
// The choices that most people make; the others are one click further.
const kUsualChoices = ['micro-batch', 'tensor', 'pipeline', 'data', 'context', 'expert', 'zero', 'recompute'];

export class Controls {
  private cluster: ClusterInfo | null = null;
  private model: ModelInfo | null = null;
  private readonly sliders = el('div', { class: 'sliders' });
  private readonly training = el('div', { class: 'sliders' });
  private newest = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly catalog: Catalog,
    private readonly state: State,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  // Builds everything for the state, and asks for the first plan.
  async open(): Promise<void> {
    this.root.replaceChildren(this.models(), this.clusters(), this.recipes(), this.choices());
    await this.describe();
  }

  // What the sliders begin at depends on model and cluster: the server says what those are.
  private async describe(): Promise<void> {
    const turn = ++this.newest;
    try {
      const [model, cluster] = await Promise.all([
        describeModel(this.state.model, this.state.modelText),
        describeCluster(this.state.cluster, this.state.clusterText),
      ]);
      if (turn !== this.newest) return;
      this.model = model;
      this.cluster = cluster;
      this.showSliders();
      this.changed();
    } catch (error) {
      if (turn === this.newest) this.failed(error);
    }
  }

  private models(): HTMLElement {
    const input = el('input', { type: 'search', list: 'model-names', id: 'model', autocomplete: 'off', spellcheck: 'false' });
    input.value = this.state.modelText ? '' : this.state.model;
    const list = el('datalist', { id: 'model-names' }, ...this.catalog.models.map((m) => {
      const active = m.active_parameters < m.parameters ? `, ${formatScaled(m.active_parameters, '')} active` : '';
      return el('option', { value: m.name }, `${formatScaled(m.parameters, '')} parameters${active}`);
    }));
    const text = this.pasted('config.json or a layer profile', 'model', this.state.modelText, (value) => {
      this.state.modelText = value;
      input.value = value ? '' : this.state.model;
    });
    input.addEventListener('focus', () => input.select());
    input.addEventListener('change', () => {
      const name = input.value.trim();
      if (name === '') {
        input.value = this.state.modelText ? '' : this.state.model;
        return;
      }
      this.state.model = name;
      this.state.modelText = '';
      text.area.value = '';
      this.state.sequence = null;
      void this.describe();
    });
    return el('fieldset', {}, el('legend', {}, 'Model'), el('label', { for: 'model' }, 'Name'), input, list, text.node);
  }

  private clusters(): HTMLElement {
    const select = el('select', { id: 'cluster' }, ...this.catalog.clusters.map((c) =>
      el('option', { value: c.name }, `${c.name} (${c.devices.toLocaleString('en-US')} x ${c.accelerator})`)));
    const own = el('option', { value: '' }, 'pasted below');
    const show = () => {
      if (this.state.clusterText) select.prepend(own);
      else own.remove();
      select.value = this.state.clusterText ? '' : this.state.cluster;
    };
    const text = this.pasted('cluster file', 'cluster', this.state.clusterText, (value) => {
      this.state.clusterText = value;
      this.forgetChanges();
      show();
    });
    select.addEventListener('change', () => {
      if (select.value === '') return;
      this.state.cluster = select.value;
      this.state.clusterText = '';
      text.area.value = '';
      this.forgetChanges();
      show();
      void this.describe();
    });
    show();
    return el('fieldset', {}, el('legend', {}, 'Cluster'), el('label', { for: 'cluster' }, 'Name'), select, text.node,
      this.sliders);
  }

  private forgetChanges(): void {
    this.state.devices = null;
    this.state.memory = null;
    this.state.bandwidth = {};
  }

  // A text area that takes effect with a button, with Ctrl+Enter, or when a file is dropped on it.
  private pasted(what: string, id: string, value: string, take: (value: string) => void) {
    const area = el('textarea', { id: `${id}-text`, rows: '6', spellcheck: 'false', 'aria-label': `Text of a ${what}` });
    area.value = value;
    const use = el('button', { type: 'button', class: 'button' }, 'Use this text');
    const apply = () => {
      take(area.value.trim() === '' ? '' : area.value);
      void this.describe();
    };
    use.addEventListener('click', apply);
    area.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) apply();
    });
    const node = el('details', { open: value !== '' }, el('summary', {}, `Paste a ${what}`), area, use);
    return { node, area };
  }

  private showSliders(): void {
    const { cluster, model, state } = this;
    if (!cluster || !model) return;
    const slider = (spec: ConstructorParameters<typeof Slider>[0]) => new Slider(spec).node;
    const tell = <K extends 'devices' | 'memory' | 'sequence'>(key: K, base: number) => (value: number) => {
      state[key] = value === base ? null : value;
      this.changed();
    };
    const memory = cluster.accelerator.memory_bytes;
    this.sliders.replaceChildren(
      slider({ label: 'Devices', unit: cluster.accelerator.name, perUnit: 1, whole: true, base: cluster.devices,
        stops: deviceStops(cluster.levels, cluster.devices, kMostDevices), value: state.devices ?? cluster.devices,
        change: tell('devices', cluster.devices) }),
      slider({ label: 'Memory', unit: 'GiB', perUnit: kGiB, whole: false, base: memory,
        stops: aroundBase(memory, 24, 8), value: state.memory ?? memory, change: tell('memory', memory) }),
      ...cluster.levels.map((level) => {
        const base = level.bandwidth_bytes_per_s;
        return slider({ label: `${level.name} bandwidth`, unit: 'GB/s', perUnit: 1e9, whole: false, base,
          stops: aroundBase(base, 20, 4), value: state.bandwidth[level.name] ?? base,
          change: (value) => {
            if (value === base) delete state.bandwidth[level.name];
            else state.bandwidth[level.name] = value;
            this.changed();
          } });
      }));
    this.training.replaceChildren(
      slider({ label: 'Global batch', unit: 'seqs', perUnit: 1, whole: true, base: kDefaults.batch,
        stops: powersOfTwo(1, 65_536), value: state.batch, change: (value) => {
          state.batch = value;
          this.changed();
        } }),
      slider({ label: 'Sequence', unit: 'tokens', perUnit: 1, whole: true, base: model.default_sequence,
        stops: powersOfTwo(256, 262_144), value: state.sequence ?? model.default_sequence,
        change: tell('sequence', model.default_sequence) }));
  }

  private recipes(): HTMLElement {
    const pick = (id: 'recipe' | 'framework' | 'precision', label: string, options: [string, string][]) => {
      const select = el('select', { id }, ...options.map(([value, text]) => el('option', { value }, text)));
      select.value = this.state[id];
      select.addEventListener('change', () => {
        this.state[id] = select.value;
        this.changed();
      });
      return el('div', { class: 'pair' }, el('label', { for: id }, label), select);
    };
    return el('fieldset', {}, el('legend', {}, 'Training'), this.training,
      pick('recipe', 'Recipe', this.catalog.recipes.map((r) => [r.name, r.name])),
      pick('framework', 'Plans for', [['', 'any framework'], ...this.catalog.frameworks.map((f): [string, string] => [f, f])]),
      pick('precision', 'Precision', [['', "the recipe's"], ['bf16', 'bf16'], ['fp16', 'fp16'], ['fp8', 'fp8']]));
  }

  private choices(): HTMLElement {
    const row = (choice: Catalog['choices'][number]) => {
      const id = `choice-${choice.name}`;
      const input = el('input', { type: 'text', id, title: choice.text, autocomplete: 'off', spellcheck: 'false' });
      input.value = this.state.choices[choice.name] ?? '';
      input.addEventListener('change', () => {
        const value = input.value.trim();
        if (value === '') delete this.state.choices[choice.name];
        else this.state.choices[choice.name] = value;
        this.changed();
      });
      return el('div', { class: 'pair' }, el('label', { for: id, title: choice.text }, choice.name), input);
    };
    const usual = this.catalog.choices.filter((c) => kUsualChoices.includes(c.name));
    const rare = this.catalog.choices.filter((c) => !kUsualChoices.includes(c.name));
    const open = rare.some((c) => this.state.choices[c.name]);
    return el('fieldset', { class: 'choices' }, el('legend', {}, 'Choices'),
      el('p', { class: 'quiet' }, 'Empty: searched. A number, a list (1,2,4) or a range (2..16) pins it.'),
      el('div', { class: 'grid' }, ...usual.map(row)),
      el('details', { open }, el('summary', {}, 'More choices'), el('div', { class: 'grid' }, ...rare.map(row))));
  }
}

export function spellError(error: unknown): string[] {
  if (!(error instanceof ApiError)) return ['the server cannot be reached', 'is nest serve still running?'];
  return [error.where ? `${error.where}: ${error.message}` : error.message, error.hint].filter((t) => t !== '');
}
