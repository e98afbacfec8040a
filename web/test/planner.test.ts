import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { kDebounceMs, kPatienceMs, kSilenceMs, Planner } from '../src/planner';
import type { PlanRequest } from '../src/request';

// A server that answers when told to, under a clock of its own.
function setUp() {
  mock.timers.enable({ apis: ['setTimeout'] });
  let clock = 0;
  const flights: { request: PlanRequest; signal: AbortSignal; tell(): void; answer(): void; fail(): void }[] = [];
  const heard: string[] = [];
  const fetch = (request: PlanRequest, signal: AbortSignal, progress: (p: object) => void) => new Promise<string>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
    flights.push({
      request, signal, tell: () => progress({}), answer: () => resolve(`plan ${request.n}`), fail: () => reject(new Error('bad request')),
    });
  });
  const planner = new Planner<string>(fetch, {
    busy: (busy) => heard.push(busy ? 'busy' : 'idle'),
    progress: () => heard.push('progress'),
    answer: (answer) => heard.push(answer),
    error: (error) => heard.push(String(error)),
  }, () => clock);
  const pass = async (ms: number) => {
    clock += ms;
    mock.timers.tick(ms);
    await settle();
  };
  return { planner, flights, heard, pass };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; ++i) await Promise.resolve();
}

test('many changes in a moment are one question: the last', async () => {
  const { planner, flights, heard, pass } = setUp();
  for (let n = 0; n < 10; ++n) planner.ask({ n });
  await pass(kDebounceMs);
  assert.equal(flights.length, 1);
  assert.equal(flights[0]?.request.n, 9);
  flights[0]?.answer();
  await settle();
  assert.deepEqual(heard.slice(-2), ['plan 9', 'idle']);
  mock.timers.reset();
});

test('a slow plan is given up for a newer question, and its answer is not shown', async () => {
  const { planner, flights, heard, pass } = setUp();
  planner.ask({ n: 1 });
  await pass(kDebounceMs);
  planner.ask({ n: 2 });
  await pass(kDebounceMs);
  assert.equal(flights.length, 1); // it still has a moment
  flights[0]?.tell();
  await pass(kPatienceMs);
  assert.equal(flights.length, 2);
  assert.equal(flights[0]?.signal.aborted, true);
  flights[0]?.answer();
  flights[1]?.answer();
  await settle();
  assert.ok(!heard.includes('plan 1'));
  assert.ok(heard.includes('plan 2'));
  mock.timers.reset();
});

test('one that has told nothing yet has longer', async () => {
  const { planner, flights, heard, pass } = setUp();
  planner.ask({ n: 1 });
  await pass(kDebounceMs);
  planner.ask({ n: 2 });
  for (let ms = 0; ms < 2 * kPatienceMs; ms += kDebounceMs) await pass(kDebounceMs);
  assert.equal(flights.length, 1);
  flights[0]?.tell();
  assert.ok(heard.includes('progress'));
  await pass(kDebounceMs);
  assert.equal(flights.length, 2); // it had its moment, and has told something
  planner.ask({ n: 3 });
  for (let ms = 0; ms <= kSilenceMs; ms += kDebounceMs) await pass(kDebounceMs);
  assert.equal(flights.length, 3); // silence has an end
  mock.timers.reset();
});

test('a quick plan is shown while the slider still moves', async () => {
  const { planner, flights, heard, pass } = setUp();
  planner.ask({ n: 1 });
  await pass(kDebounceMs);
  planner.ask({ n: 2 });
  flights[0]?.answer();
  await settle();
  assert.ok(heard.includes('plan 1'));
  assert.equal(flights.length, 2); // at once, without another wait
  mock.timers.reset();
});

test('what follows from an answer never takes the place of a newer question', async () => {
  const { planner, flights, heard, pass } = setUp();
  planner.ask({ n: 1 });
  await pass(kDebounceMs);
  planner.ask({ n: 2 });
  planner.follow({ n: 'others of 1' });
  flights[0]?.answer();
  await settle();
  assert.equal(flights[1]?.request.n, 2);
  flights[1]?.answer();
  planner.follow({ n: 'others of 2' });
  await settle();
  assert.equal(flights[2]?.request.n, 'others of 2');
  flights[2]?.answer();
  await settle();
  assert.equal(heard.at(-1), 'idle');
  mock.timers.reset();
});

test('at most one is in flight, however long somebody drags', async () => {
  const { planner, flights, pass } = setUp();
  for (let n = 0; n < 200; ++n) {
    planner.ask({ n });
    await pass(16);
    flights.at(-1)?.tell();
    assert.ok(flights.filter((f) => !f.signal.aborted).length <= 1);
  }
  assert.ok(flights.length > 5);
  assert.ok(flights.length < 20);
  mock.timers.reset();
});

test('an error is told once, and the next question works', async () => {
  const { planner, flights, heard, pass } = setUp();
  planner.ask({ n: 1 });
  await pass(kDebounceMs);
  flights[0]?.fail();
  await settle();
  assert.deepEqual(heard.slice(-2), ['Error: bad request', 'idle']);
  planner.ask({ n: 2 });
  await pass(kDebounceMs);
  flights[1]?.answer();
  await settle();
  assert.ok(heard.includes('plan 2'));
  mock.timers.reset();
});

test('a question that is cancelled is never heard of again', async () => {
  const { planner, flights, heard, pass } = setUp();
  planner.ask({ n: 1 });
  await pass(kDebounceMs);
  planner.ask({ n: 2 });
  planner.cancel();
  assert.equal(flights[0]?.signal.aborted, true);
  assert.equal(heard.at(-1), 'idle');
  const before = heard.length;
  flights[0]?.tell();
  flights[0]?.answer();
  await pass(2 * kSilenceMs);
  assert.equal(heard.length, before);
  assert.equal(flights.length, 1); // what waited is not asked either
  planner.ask({ n: 3 });
  await pass(kDebounceMs);
  flights[1]?.answer();
  await settle();
  assert.deepEqual(heard.slice(-2), ['plan 3', 'idle']);
  mock.timers.reset();
});

test('an error may end everything: nothing that waits is asked after it', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let asked = 0;
  const planner: Planner<string> = new Planner<string>(() => {
    ++asked;
    return Promise.reject(new Error('no such model'));
  }, { busy: () => undefined, progress: () => undefined, answer: () => undefined, error: () => planner.cancel() }, () => 0);
  planner.ask({ n: 1 });
  mock.timers.tick(kDebounceMs);
  planner.ask({ n: 2 });
  await settle();
  mock.timers.tick(2 * kSilenceMs);
  await settle();
  assert.equal(asked, 1);
  mock.timers.reset();
});
