// Files as one tar archive (ustar), for exports that are more than one file.

export interface TextFile {
  name: string;
  text: string;
}

const kBlock = 512;

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}

function header(name: string, size: number, executable: boolean): Uint8Array {
  const block = new Uint8Array(kBlock);
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at);
  put(0, name);
  put(100, octal(executable ? 0o755 : 0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(0, 11));
  put(148, ' '.repeat(8));
  put(156, '0');
  put(257, 'ustar\0' + '00');
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

// Names have at most 100 bytes; scripts (.sh) can be run.
export function tar(folder: string, files: TextFile[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (const file of files) {
    const name = `${folder}/${file.name}`;
    if (new TextEncoder().encode(name).length > 100) throw new Error(`the name ${name} is too long for an archive`);
    const bytes = new TextEncoder().encode(file.text);
    const padded = new Uint8Array(Math.ceil(bytes.length / kBlock) * kBlock);
    padded.set(bytes);
    parts.push(header(name, bytes.length, file.name.endsWith('.sh')), padded);
  }
  parts.push(new Uint8Array(2 * kBlock));
  const all = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
