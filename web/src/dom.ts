// Elements in one call. Strings only ever become text.

type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string | boolean | undefined> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, '');
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child): child is Node | string => child !== null));
  return node;
}

export function at(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

export function pushButton(text: string, label: string, press: () => void): HTMLButtonElement {
  const button = el('button', { type: 'button', class: 'button', title: label }, text);
  button.addEventListener('click', press);
  return button;
}

export function download(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  const anchor = el('a', { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
