/** Server-sent events, from text that arrives in pieces of any size. Comments keep the connection alive and are dropped. */
export interface RawFrame {
  readonly event: string
  readonly data: string
  readonly id: string | null
}

export interface SseParser {
  /** Returns the frames that are complete now. */
  push(text: string): RawFrame[]
}

export function createSseParser(): SseParser {
  let rest = ''
  return {
    push(text) {
      // A carriage return at the end may be half of a line end.
      const all = rest + text
      const half = all.endsWith('\r') ? '\r' : ''
      const blocks = all
        .slice(0, all.length - half.length)
        .replaceAll('\r\n', '\n')
        .split('\n\n')
      rest = (blocks.pop() ?? '') + half
      return blocks.flatMap(frameOf)
    },
  }
}

function frameOf(block: string): RawFrame[] {
  let [event, id] = ['message', null as string | null]
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
    if (name === 'id') id = value
  }
  return data.length === 0 ? [] : [{ event, id, data: data.join('\n') }]
}
