// The question, on the left: model, cluster, sliders and choices. Tells of every change at once.
import { formatScaled } from '@views/format.js';
import { inWords } from './answer';
import { ApiError, describeCluster, describeModel, Unreachable } from './api';
import type { Catalog, ClusterInfo, ModelInfo } from './api';
import { blamedKeys } from './blame';
import { el } from './dom';
import { fileBox } from './files';
import { aroundBase, deviceStops, powersOfTwo } from './scale';
import { markWrong, Slider } from './slider';
import type { SliderSpec } from './slider';
import { kDefaults } from './state';
import type { State } from './state';
import { tuningControls } from './tuning_controls';

const kMostDevices = 262_144;
const kGiB = 2 ** 30;
const kRatios = [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 32];
const kFits = [0.9, 0.99, 0.999];
// The choices that most people make; the others are one click further.
const kUsualChoices = ['micro-batch', 'tensor', 'pipeline', 'data', 'context', 'expert', 'zero', 'recompute'];

export class Controls {
  private cluster: ClusterInfo | null = null;
  private model: ModelInfo | null = null;
  private readonly sliders = el('div', { class: 'sliders' });
  private readonly training = el('div', { class: 'sliders' });
  private newest = 0;
  // Inputs by the key of the request that they set, to say what is wrong beside them.
  private readonly inputs = new Map<string, HTMLElement>();
  private blamed: HTMLElement | null = null; // beside which the server's refusal stands

  constructor(
    private readonly root: HTMLElement,
    private readonly catalog: Catalog,
    private readonly state: State,
    private readonly begins: () => void, // another model or cluster was chosen, and the server is asked what it is
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  // Builds everything for the state, and asks for the first plan.
  async open(): Promise<void> {
    this.root.replaceChildren(this.models(), this.clusters(), this.recipes(), this.safety(), this.choices());
    await this.describe();
  }

  // What the sliders begin at depends on model and cluster: the server says what those are.
  private async describe(): Promise<void> {
    const turn = ++this.newest;
    this.begins();
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

  // Others have taken their place: what the server still says is of no interest.
  close(): void {
    ++this.newest;
  }

  // Tokens of a sequence as the question has it.
  sequence(): number {
    return this.state.sequence ?? this.model?.default_sequence ?? 0;
  }

  // Says beside its input what the server refuses; false where the error belongs to none.
  refuse(error: unknown): boolean {
    // What a box says of itself stays until somebody mends it.
    if (this.blamed?.isConnected) markWrong(this.blamed, '');
    this.blamed = null;
    if (!(error instanceof ApiError)) return false;
    const input = blamedKeys(error.where, this.state).map((key) => this.inputs.get(key)).find((found) => found !== undefined);
    if (!input) return false;
    this.blamed = input;
    markWrong(input, error.message);
    input.closest('details')?.setAttribute('open', '');
    input.scrollIntoView({ block: 'nearest' });
    return true;
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
    this.inputs.set('model', input);
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
    const files = fileBox(this.state, (value) => {
      this.state.clusterText = text.area.value = value;
      this.forgetChanges();
      show();
      void this.describe();
    });
    select.addEventListener('change', () => {
      if (select.value === '') return;
      files.forget();
      this.state.cluster = select.value;
      this.state.clusterText = '';
      text.area.value = '';
      this.forgetChanges();
      show();
      void this.describe();
    });
    show();
    this.inputs.set('cluster', select);
    return el('fieldset', {}, el('legend', {}, 'Cluster'), el('label', { for: 'cluster' }, 'Name'), select, files.node, text.node,
      this.sliders);
  }

  private forgetChanges(): void {
    this.state.devices = null;
    this.state.memory = null;
    this.state.bandwidth = {};
    this.state.oversubscription = {};
  }

  // A text area that takes effect with a button, with Ctrl+Enter, or when a file is dropped on it.
  private pasted(what: string, id: string, value: string, take: (value: string) => void) {
    const area = el('textarea', { id: `${id}-text`, rows: '6', spellcheck: 'false', 'aria-label': `Text of a ${what}` });
    area.value = value;
    this.inputs.set(`${id}_text`, area);
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
    const slider = (spec: SliderSpec) => {
      const made = new Slider(spec);
      this.inputs.set(spec.key, made.box);
      return made.node;
    };
    const tell = <K extends 'devices' | 'memory' | 'sequence'>(key: K, base: number) => (value: number) => {
      state[key] = value === base ? null : value;
      this.changed();
    };
    const memory = cluster.accelerator.memory_bytes;
    const perLevel = (key: 'bandwidth' | 'oversubscription', level: string, base: number) => (value: number) => {
      if (value === base) delete state[key][level];
      else state[key][level] = value;
      this.changed();
    };
    const shared = cluster.levels.filter((level) => level.kind === 'switch' || level.kind === 'fully_connected');
    this.sliders.replaceChildren(
      slider({ label: 'Devices', key: 'devices', unit: cluster.accelerator.name, noun: 'devices', perUnit: 1, whole: true,
        least: 1, most: kMostDevices,         base: cluster.devices,
        stops: deviceStops(cluster.levels, cluster.devices, kMostDevices), value: state.devices ?? cluster.devices,
        change: tell('devices', cluster.devices) }),
      slider({ label: 'Memory', key: 'changes.memory_bytes', unit: 'GiB', perUnit: kGiB, whole: false, least: 0.1, most: 1e5, base: memory,
        stops: aroundBase(memory, 24, 8), value: state.memory ?? memory, change: tell('memory', memory) }),
      ...cluster.levels.map((level) => {
        const base = level.bandwidth_bytes_per_s;
        return slider({ label: `${level.name} bandwidth`, key: `changes.bandwidth_bytes_per_s.${level.name}`, unit: 'GB/s',
          perUnit: 1e9, whole: false, least: 1e-3, most: 1e6, base, stops: aroundBase(base, 20, 4),
          value: state.bandwidth[level.name] ?? base, change: perLevel('bandwidth', level.name, base) });
      }),
      el('details', { open: Object.keys(state.oversubscription).length > 0, hidden: shared.length === 0 }, el('summary', {}, 'Oversubscription'),
        ...shared.map((level) => {
          const base = level.oversubscription;
          const stops = [...new Set([...kRatios, base])].sort((a, b) => a - b);
          return slider({ label: level.name, key: `changes.oversubscription.${level.name}`, unit: ': 1', noun: 'to 1', perUnit: 1, whole: false,
            least: 1, most: 1000, base, stops, value: state.oversubscription[level.name] ?? base,
            change: perLevel('oversubscription', level.name, base) });
        })));
    this.training.replaceChildren(
      slider({ label: 'Global batch', key: 'global_batch', unit: 'seqs', perUnit: 1, whole: true, least: 1, most: 1e9, base: kDefaults.batch,
        stops: powersOfTwo(1, 65_536), value: state.batch, change: (value) => {
          state.batch = value;
          this.changed();
        } }),
      slider({ label: 'Sequence', key: 'sequence', unit: 'tokens', perUnit: 1, whole: true, least: 1, most: 16_777_216, base: model.default_sequence,
        stops: powersOfTwo(256, 262_144), value: state.sequence ?? model.default_sequence,
        change: tell('sequence', model.default_sequence) }));
  }

  private recipes(): HTMLElement {
    const pick = (id: 'recipe' | 'framework' | 'precision' | 'optimizer', label: string, options: [string, string][]) =>
      this.pick(id, label, options, this.state[id], (value) => {
        this.state[id] = value;
        if (id === 'recipe') this.state.recipeText = text.area.value = '';
      });
    const text = this.pasted('recipe', 'recipe', this.state.recipeText, (value) => {
      this.state.recipeText = value;
    });
    const names = (list: string[]) => list.map((name): [string, string] => [name, name]);
    return el('fieldset', {}, el('legend', {}, 'Training'), this.training,
      pick('recipe', 'Recipe', names(this.catalog.recipes.map((r) => r.name))), text.node,
      pick('framework', 'Plans for', [['', 'any framework'], ...names(this.catalog.frameworks)]),
      pick('precision', 'Precision', [['', "the recipe's"], ...names(['bf16', 'fp16', 'fp8', 'fp8-block', 'mxfp8', 'nvfp4'])]),
      pick('optimizer', 'Optimizer', [['', "the recipe's"], ...names(['adam', 'sgd', 'muon'])]),
      tuningControls(this.state, this.inputs, this.changed));
  }

  private pick(
    id: string, label: string, options: [string, string][], value: string, take: (value: string) => void,
  ): HTMLElement {
    const select = el('select', { id }, ...options.map(([key, text]) => el('option', { value: key }, text)));
    select.value = value;
    this.inputs.set(id === 'framework' ? 'for' : id, select);
    select.addEventListener('change', () => {
      take(select.value);
      this.changed();
    });
    return el('div', { class: 'pair' }, el('label', { for: id }, label), select);
  }

  // How sure it must be that a plan fits: a probability, a margin of memory, or the estimate alone.
  private safety(): HTMLElement {
    const { state } = this;
    const box = el('input', { type: 'text', id: 'margin', autocomplete: 'off', title: 'a share of memory, such as 8%' });
    const margin = el('div', { class: 'pair' }, el('label', { for: 'margin' }, 'Margin'), box);
    const modes: [string, string][] = [['', 'with 95 % (usual)'], ...kFits.map((f): [string, string] => [`${f}`, `with ${f * 100} %`]),
      ['margin', 'with a margin of memory'], ['risky', 'by the estimate alone']];
    const mode = state.risky ? 'risky' : state.margin ? 'margin' : state.fits === null ? '' : `${state.fits}`;
    if (!modes.some(([key]) => key === mode)) modes.push([mode, `with ${Number((100 * Number(mode)).toPrecision(4))} %`]);
    const pick = this.pick('fits', 'Must fit', modes, mode, (value) => {
      state.risky = value === 'risky';
      state.fits = Number(value) > 0 ? Number(value) : null;
      state.margin = value === 'margin' ? box.value.trim() || '8%' : '';
      box.value = state.margin;
      margin.hidden = value !== 'margin';
    });
    box.value = state.margin;
    margin.hidden = mode !== 'margin';
    this.inputs.set('memory_margin', box);
    box.addEventListener('change', () => {
      const typed = box.value.trim();
      const share = Number(typed.replace(/%$/, ''));
      const wrong = typed === '' || !Number.isFinite(share) || share < 0 || share >= 100;
      markWrong(box, wrong ? `'${typed}' is not a share of memory: write it like 8%` : '');
      if (wrong) return;
      state.margin = typed.replaceAll(' ', '');
      this.changed();
    });
    const strict = el('input', { type: 'checkbox', id: 'strict' });
    strict.checked = state.strict;
    strict.addEventListener('change', () => {
      state.strict = strict.checked;
      this.changed();
    });
    return el('fieldset', {}, el('legend', {}, 'Memory and near ties'), pick, margin,
      el('label', { class: 'check', for: 'strict' }, strict,
        ' The fastest plan, not the simplest of those within 0.5 %'));
  }

  private choices(): HTMLElement {
    const row = (choice: Catalog['choices'][number]) => {
      const id = `choice-${choice.name}`;
      const input = el('input', { type: 'text', id, title: choice.text, autocomplete: 'off', spellcheck: 'false' });
      input.value = this.state.choices[choice.name] ?? '';
      this.inputs.set(`choices.${choice.name}`, input);
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
      el('details', { open }, el('summary', {}, 'More choices'), el('div', { class: 'grid one' }, ...rare.map(row))));
  }
}

export function spellError(error: unknown): string[] {
  if (error instanceof Unreachable) return ['the server cannot be reached', 'is nest serve still running?'];
  if (!(error instanceof ApiError)) return [`the page itself has failed: ${error instanceof Error ? error.message : `${error}`}`, 'this is a bug in nest'];
  // The request is one line, and its choices are controls of their own.
  const where = error.where.replace(/^request: line \d+, /, '').replace(/^choices\./, '');
  return [where ? `${where}: ${error.message}` : error.message, error.hint].filter((t) => t !== '').map(inWords);
}
