// Who may talk to the server, and how much: node guards.mjs NEST. The last line is "N passed, N failed".
import { request } from 'node:http';
import { join } from 'node:path';
import { root, startServer } from './browser.mjs';

const nest = process.argv[2] ?? join(root, 'build/nest');
let [passed, failed] = [0, 0];

function check(holds, what) {
  holds ? ++passed : ++failed;
  if (!holds) console.log(`FAILED: ${what}`);
}

// fetch() does not let headers such as Host be set.
function ask(address, path, { method = 'GET', headers = {}, body = '' } = {}) {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const req = request({ hostname, port, path, method, headers }, (res) => {
      let text = '';
      res.on('data', (piece) => { text += piece; });
      res.on('close', () => resolve({ status: res.statusCode, headers: res.headers, text }));
    });
    req.on('error', reject);
    req.end(body);
  });
}

const own = await startServer(nest);
const status = async (path, options) => (await ask(own.address, path, options)).status;
check(await status('/api/v1/recipes') === 200, 'a plain request');
for (const host of ['evil.com', 'localhost.evil.com', '127.0.0.1.evil.com:80'])
  check(await status('/api/v1/recipes', { headers: { Host: host } }) === 403, `Host: ${host}`);
check(await status('/api/v1/recipes', { headers: { Origin: 'http://evil.com' } }) === 403, 'another site');
check(await status('/api/v1/recipes', { headers: { Origin: own.address } }) === 200, 'the page itself');
const headers = { 'Content-Type': 'application/json' };
const big = await ask(own.address, '/api/v1/plan', { method: 'POST', headers, body: ' '.repeat(1_100_000) })
  .catch(() => ({ status: 413, text: '{"error": 0}' })); // the connection may be closed before all is sent
check(big.status === 413 && 'error' in JSON.parse(big.text), 'a body that is too large');
for (const path of ['/assets/../CMakeLists.txt', '/assets/..%2f..%2fetc%2fpasswd', '/etc/passwd', '//etc/passwd',
  '/api/v1/models/..%2f..%2fetc%2fpasswd', '/api/v1/clusters/%2e%2e', '/assets/nothing.js']) {
  const answer = await ask(own.address, path);
  check(answer.status === 404 && !answer.text.includes('root:'), `${path}: ${answer.status}`);
}
const page = await ask(own.address, '/');
check(page.status === 200 && page.headers['content-security-policy']?.includes("default-src 'none'"), 'the policy');
check(page.headers['x-content-type-options'] === 'nosniff', 'no sniffing');
check(!/(src|href)="(https?:)?\/\//.test(page.text), 'the page fetches from elsewhere');
check(await status('/api/v1/plan', { method: 'POST', headers, body: '{' }) === 400, 'no JSON');
check(await status('/api/v1/plan') === 404, 'GET where POST is meant');

// A second one takes another port; on a port that is taken it says so and ends.
const second = await startServer(nest);
check(second.address !== own.address, 'two servers, two ports');
check(await second.stop() === 0, 'the second ends cleanly');
const taken = await startServer(nest, ['--port', new URL(own.address).port]).catch((error) => error);
check(taken instanceof Error, 'a port that is taken');

// A search that runs when Ctrl-C comes does not hold the server up.
const long = ask(own.address, '/api/v1/plan', { method: 'POST', headers,
  body: '{"model": "deepseek-v3", "cluster": "mega-131072"}' }).catch(() => null);
await new Promise((resolve) => setTimeout(resolve, 1000));
const began = performance.now();
check(await own.stop() === 0, 'it ends cleanly');
check(performance.now() - began < 10_000, `it took ${performance.now() - began} ms to end`);
await long;

// Off this machine's own address: only with the token that it prints.
const open = await startServer(nest, ['--host', '0.0.0.0', '--threads', '1']);
const token = /token=(\w+)/.exec(open.line)?.[1];
const address = `http://127.0.0.1:${/:(\d+)\//.exec(open.line)?.[1]}`;
check(token?.length === 32, 'a token is printed');
check((await ask(address, '/api/v1/recipes')).status === 401, 'no token');
check((await ask(address, '/api/v1/recipes?token=0')).status === 401, 'a wrong token');
check((await ask(address, `/api/v1/recipes?token=${token}`)).status === 200, 'the token in the address');
const bearer = { headers: { Authorization: `Bearer ${token}` } };
check((await ask(address, '/api/v1/recipes', bearer)).status === 200, 'the token as a header');
await open.stop();

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
