// Server-sent events out of pieces of text, wherever the pieces are cut.

export interface ServerEvent {
  name: string;
  data: string;
}

export class EventParser {
  private rest = '';

  // The events that the piece completes.
  push(piece: string): ServerEvent[] {
    this.rest += piece;
    const blocks = this.rest.split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.map((block) => {
      const event: ServerEvent = { name: 'message', data: '' };
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) event.name = line.slice(7);
        if (line.startsWith('data: ')) event.data += line.slice(6);
      }
      return event;
    });
  }
}
