// Launch files: a menu of the targets of `nest export`, and below it which releases of the chosen one were tried,
// when and how.
import type { Target } from './api';
import { el, pushButton } from './dom';

// Chakra's traces are one file for each rank: only the command line writes them.
const kOnlyHere = 'chakra';

// One sentence for each day and way in which releases were tried.
export function triedText(target: Target): string {
  const ways = new Map<string, string[]>();
  for (const release of target.releases) {
    const way = `${release.tried} (${release.how})`;
    const name = release.name === target.usual_release ? `${release.name} (the usual one)` : release.name;
    ways.set(way, [...(ways.get(way) ?? []), name]);
  }
  const tried = [...ways].map(([way, names]) => `${names.join(', ')} on ${way}`);
  return tried.length ? `Tried with ${target.title} ${tried.join('; ')}. docs/export.md says how to repeat it.` : `${target.title}: ${target.text}.`;
}

export function targetMenu(targets: Target[], save: (to: string, title: string) => void): HTMLElement {
  const offered = targets.filter((target) => target.name !== kOnlyHere);
  const menu = el('select', { id: 'target', 'aria-label': 'what to write launch files for' },
    ...offered.map((target) => el('option', { value: target.name }, target.title)));
  const chosen = (): Target => offered.find((target) => target.name === menu.value) ?? offered[0]!;
  const note = el('small', { id: 'tried' });
  const button = pushButton('Launch files', 'download arguments, scripts and the device of every rank', () =>
    save(chosen().name, chosen().title));
  const show = (): void => {
    note.textContent = triedText(chosen());
    menu.title = chosen().text;
  };
  menu.addEventListener('change', show);
  show();
  return el('span', { class: 'targets' }, menu, button, note);
}
