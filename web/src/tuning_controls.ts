// Fine-tuning, on the left: what of the model is trained, what stays as it is, and in how many bits that is held.
import { el } from './dom';
import { markWrong } from './slider';
import type { State } from './state';
import { joinWords, readTrain, spellTrain, wrongTrain } from './tuning';
import type { TuningKind } from './tuning';

const kKinds: [TuningKind, string][] = [['all', 'all of the model'], ['lora', 'adapters (LoRA)'], ['layers', 'some layers']];
const kBits: [string, string][] = [['', '16 bits'], ['8', '8 bits'], ['4', '4 bits']];

// `inputs` takes what the server's refusals stand beside, by the key of the request.
export function tuningControls(state: State, inputs: Map<string, HTMLElement>, changed: () => void): HTMLElement {
  const train = readTrain(state.train);
  const pair = (id: string, label: string, input: HTMLElement, note = '') =>
    el('div', { class: 'pair' }, el('label', { for: id }, label), input, note ? el('p', { class: 'quiet' }, note) : null);
  const menu = (id: string, options: [string, string][], value: string, title: string, take: (value: string) => void) => {
    const select = el('select', { id, title }, ...options.map(([key, text]) => el('option', { value: key }, text)));
    select.value = value;
    select.addEventListener('change', () => take(select.value));
    return select;
  };
  const box = (id: string, value: string, take: (value: string) => void) => {
    const input = el('input', { type: 'text', id, autocomplete: 'off', spellcheck: 'false' });
    input.value = value;
    input.addEventListener('change', () => take(input.value.trim()));
    return input;
  };
  // A refusal of the server stands beside what is most likely wrong.
  const blame = () => inputs.set('train', train.kind === 'layers' ? layers : train.kind === 'lora' && train.beside ? beside : kind);
  const tell = () => {
    const wrong = wrongTrain(train);
    blame();
    markWrong(rank, wrong?.[0] === 'rank' ? wrong[1] : '');
    markWrong(layers, wrong?.[0] === 'layers' ? wrong[1] : '');
    if (wrong) return;
    state.train = spellTrain(train);
    changed();
  };
  const kind = menu('train', kKinds, train.kind, 'what of the model is trained', (value) => {
    train.kind = value as TuningKind;
    show();
    tell();
    if (train.kind === 'layers' && train.layers === '') layers.focus();
  });
  const rank = box('train-rank', train.rank, (value) => {
    train.rank = value;
    tell();
  });
  const beside = box('train-beside', train.beside, (value) => {
    train.beside = joinWords(value, '+');
    tell();
  });
  const layers = box('train-layers', train.layers, (value) => {
    train.layers = value;
    tell();
  });
  const rows = { rank: pair('train-rank', 'Rank', rank),
    beside: pair('train-beside', 'Beside', beside, "Empty: the attention's projections. Or q_proj+v_proj, linear_fc1, all-linear."),
    layers: pair('train-layers', 'Layers', layers, 'Blocks counted from 0, such as 24.. or 8..15.') };
  const show = () => {
    rows.rank.hidden = rows.beside.hidden = train.kind !== 'lora';
    rows.layers.hidden = train.kind !== 'layers';
  };
  const freeze = box('freeze', state.freeze, (value) => {
    state.freeze = value.split(',').map((part) => part.trim()).filter((part) => part !== '').join(',');
    changed();
  });
  const bits = menu('frozen-bits', kBits, state.frozenBits, 'how the weights of products in blocks are held where they are not trained', (value) => {
    state.frozenBits = value;
    changed();
  });
  blame();
  inputs.set('freeze', freeze);
  inputs.set('frozen_bits', bits);
  show();
  const open = state.train !== '' || state.freeze !== '' || state.frozenBits !== '';
  return el('details', { open, id: 'tuning' }, el('summary', {}, 'Fine-tuning'), pair('train', 'Train', kind),
    rows.rank, rows.beside, rows.layers, pair('freeze', 'Freeze', freeze, 'Parts that stay as they are: embedding, head, vision, router, layers 0..11.'), pair('frozen-bits', 'Frozen in', bits));
}
