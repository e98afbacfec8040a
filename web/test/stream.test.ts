import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from '../src/stream';

const kText = 'event: progress\ndata: {"a": 1}\n\nevent: plan\ndata: {"b":\ndata: 2}\n\ndata: x\n\n';
const kEvents = [
  { name: 'progress', data: '{"a": 1}' }, { name: 'plan', data: '{"b":2}' }, { name: 'message', data: 'x' },
];

test('events come out whole, wherever the text is cut', () => {
  for (let size = 1; size <= kText.length; ++size) {
    const parser = new EventParser();
    const events = [];
    for (let i = 0; i < kText.length; i += size) events.push(...parser.push(kText.slice(i, i + size)));
    assert.deepEqual(events, kEvents);
  }
});
