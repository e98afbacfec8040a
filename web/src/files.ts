// Files that are dropped on the page, or chosen with a button: a cluster file, or what schedulers, drivers and cloud
// providers print. The server reads them, and what it had to assume stands below the button.
import { ApiError, importFiles } from './api';
import type { ImportedCluster } from './api';
import { el } from './dom';
import type { State } from './state';

const kMostBytes = 15_000_000; // of all files: the server takes little more

export interface FileBox {
  node: HTMLElement;
  forget(): void; // the cluster is another one now
}

// What was dropped goes to the box that is on the page.
let newest: ((files: File[]) => Promise<void>) | null = null;
let listening = false;

function listen(): void {
  if (listening) return;
  listening = true;
  const over = (on: boolean) => document.body.classList.toggle('dropping', on);
  const withFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  addEventListener('dragover', (event) => {
    if (!withFiles(event)) return;
    event.preventDefault();
    over(true);
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) over(false);
  });
  addEventListener('drop', (event) => {
    over(false);
    if (!withFiles(event)) return;
    event.preventDefault();
    void newest?.([...(event.dataTransfer?.files ?? [])]);
  });
}

function sentences(title: string, list: string[]): (HTMLElement | null)[] {
  if (list.length === 0) return [];
  return [el('p', { class: 'quiet' }, title), el('ul', {}, ...list.map((text) => el('li', {}, text)))];
}

export function notesOf(read: ImportedCluster): HTMLElement {
  const count = `${read.devices.toLocaleString('en-US')} devices`;
  const summary = read.assumed.length > 0 ? `${count} from ${read.kind}, ${read.assumed.length} assumptions` : `${count} from ${read.kind}`;
  return el('details', {}, el('summary', {}, summary), ...sentences('Read', read.known),
    ...sentences('Assumed, as no file says it', read.assumed), ...sentences('Left out', read.left_out));
}

// The plan on the page stays: its question has not changed.
export function refusalOf(error: unknown): HTMLElement {
  const words = error instanceof ApiError ? [error.where ? `${error.where}: ${error.message}` : error.message, error.hint] :
    ['the server cannot be reached'];
  return el('p', { class: 'refused', role: 'alert' }, words.filter((text) => text !== '').join('; '));
}

// `take` puts the text of a cluster file in place of what is chosen.
export function fileBox(state: State, take: (text: string) => void): FileBox {
  const input = el('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files of a cluster' });
  const button = el('button', { type: 'button', class: 'button', id: 'open-files',
    title: 'a cluster file, or the output of Slurm, Kubernetes, nvidia-smi, NCCL, a cloud provider; or drop files on the page' }, 'Open files ...');
  const notes = el('div', { class: 'imported' });
  const read = async (files: File[]) => {
    if (files.length === 0) return;
    try {
      if (files.reduce((sum, file) => sum + file.size, 0) > kMostBytes) throw new ApiError('files', `more than ${kMostBytes / 1e6} MB`, '', 413);
      const texts = await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
      const answer = await importFiles(texts, state);
      take(answer.cluster_text);
      notes.replaceChildren(notesOf(answer));
    } catch (error) {
      notes.replaceChildren(refusalOf(error));
    }
  };
  button.addEventListener('click', () => input.click());
  input.addEventListener('change', () => {
    void read([...(input.files ?? [])]);
    input.value = '';
  });
  newest = read;
  listen();
  return { node: el('div', {}, button, input, notes), forget: () => notes.replaceChildren() };
}
