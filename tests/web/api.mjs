// The examples of docs/api.md, run against a server: node api.mjs NEST. Each ```http block is a request, the
// ```json block after it what the answer has at least; ".." stands for any value.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, startServer } from './browser.mjs';

const kTolerance = 1e-9;

// Where the answer lacks something of what is expected; null where it has it all.
function mismatch(expected, answer, path = 'answer') {
  if (expected === '..') return answer === undefined ? `${path} is missing` : null;
  if (typeof expected === 'number' && typeof answer === 'number')
    return Math.abs(expected - answer) <= kTolerance * Math.abs(expected) ? null : `${path} is ${answer}`;
  if (typeof expected !== 'object' || expected === null)
    return expected === answer ? null : `${path} is ${JSON.stringify(answer)}, not ${JSON.stringify(expected)}`;
  if (typeof answer !== 'object' || answer === null) return `${path} is ${JSON.stringify(answer)}`;
  if (Array.isArray(expected) && !Array.isArray(answer)) return `${path} is no list`;
  if (Array.isArray(expected) && expected.length === 0 && answer.length > 0) return `${path} is not empty`;
  for (const [key, value] of Object.entries(expected)) {
    const found = mismatch(value, answer[key], `${path}.${key}`);
    if (found) return found;
  }
  return null;
}

const text = readFileSync(join(root, 'docs/api.md'), 'utf8');
const pairs = [...text.matchAll(/```http\n(GET|POST) (\S+)\n([^`]*)```\n\n```json\n([^`]*)```/g)];
const requests = text.match(/```http/g)?.length ?? 0;
const server = await startServer(process.argv[2] ?? join(root, 'build/nest'));
let [passed, failed] = [0, 0];
try {
  for (const [, method, path, body, expected] of pairs) {
    const options = method === 'GET' ? {} :
      { method, body: JSON.stringify(JSON.parse(body)), headers: { 'Content-Type': 'application/json' } };
    const response = await fetch(server.address + path, options);
    const answer = await response.json();
    const wanted = JSON.parse(expected);
    const wrong = response.ok === (wanted.error !== undefined) ? `status ${response.status}` : mismatch(wanted, answer);
    if (wrong) console.log(`${method} ${path} ${body.trim()}\n  ${wrong}`);
    wrong ? ++failed : ++passed;
  }
} finally {
  await server.stop();
}
if (pairs.length !== requests) {
  console.log(`${requests} requests, but ${pairs.length} with an answer that could be read`);
  ++failed;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
