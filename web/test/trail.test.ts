import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kOneChangeMs, Trail } from '../src/trail';

// A browser's history: entries, and the one that is open.
function setUp() {
  const list: { state: unknown; address: string }[] = [{ state: null, address: '/' }];
  let open = 0;
  let clock = 0;
  const entries = {
    get state() { return list[open]?.state; },
    pushState(state: unknown, _: string, address: string) {
      list.splice(++open, Infinity, { state, address });
    },
    replaceState(state: unknown, _: string, address?: string) {
      list[open] = { state, address: address ?? list[open]?.address ?? '' };
    },
  };
  const trail = new Trail(entries, () => clock);
  return { trail, list, at: () => list[open]?.address, pass: (ms: number) => { clock += ms; }, go: (by: number) => { open += by; return trail.moved(); },
    type: (address: string) => { list.splice(++open, Infinity, { state: null, address }); return trail.moved(); } };
}

test('every question is an entry, and back is undo', () => {
  const { trail, at, go, pass } = setUp();
  assert.equal(trail.canUndo, false);
  trail.record('#a', 'devices');
  pass(10);
  trail.record('#b', 'memory');
  assert.equal(trail.canUndo, true);
  assert.equal(trail.canRedo, false);
  assert.equal(go(-1), true);
  assert.equal(at(), '#a');
  assert.equal(trail.canRedo, true);
  go(1);
  assert.equal(at(), '#b');
  assert.equal(trail.canRedo, false);
  go(-2);
  assert.equal(at(), '/');
  assert.equal(trail.canUndo, false);
});

test('dragging one slider is one change; a pause or another slider is the next', () => {
  const { trail, list, pass } = setUp();
  for (let i = 0; i < 20; ++i) {
    trail.record(`#${i}`, 'bandwidth.rack');
    pass(50);
  }
  assert.equal(list.length, 2);
  pass(kOneChangeMs);
  trail.record('#later', 'bandwidth.rack');
  trail.record('#other', 'bandwidth.spine');
  assert.equal(list.length, 4);
});

test('another view is no change, and a new question forgets what was undone', () => {
  const { trail, list, go } = setUp();
  trail.record('#a', 'devices');
  trail.record('#a-view', '');
  assert.equal(list.length, 2);
  go(-1);
  trail.record('#c', 'devices');
  assert.equal(list.length, 2);
  assert.equal(trail.canRedo, false);
  assert.equal(trail.canUndo, true);
});

test('an address that somebody typed is an entry of its own', () => {
  const { trail, type } = setUp();
  assert.equal(type('#typed'), false);
  assert.equal(trail.canUndo, true);
});
