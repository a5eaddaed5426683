import { describe, expect, test } from 'vitest'
import { createSseParser } from '../src/live/sse-parser.ts'
import { streamPath } from '../src/live/topics.ts'

describe('the parser of events', () => {
  test('gives the same frames wherever the text is cut', () => {
    const text = ': padding\n\nevent: nodes\nid: 7\ndata: {"a":\ndata: 1}\n\nevent: tick\r\ndata: {}\r\n\r\n'
    const whole = createSseParser().push(text)
    expect(whole).toEqual([
      { event: 'nodes', id: '7', data: '{"a":\n1}' },
      { event: 'tick', id: null, data: '{}' },
    ])
    for (let cut = 1; cut < text.length; cut++) {
      const parser = createSseParser()
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(whole)
    }
  })

  test('keeps a frame until it is complete', () => {
    const parser = createSseParser()
    expect(parser.push('event: tick\ndata: {}\n')).toEqual([])
    expect(parser.push('\n')).toEqual([{ event: 'tick', id: null, data: '{}' }])
  })
})

test('the same topics give the same stream, in any order', () => {
  const path = '/events?topics=nodes%2Coverview&runs=1%2C2&log=5'
  expect(streamPath(new Set(['overview', 'run:2', 'nodes', 'log:5', 'run:1']))).toBe(path)
  expect(streamPath(new Set(['run:1', 'log:5', 'nodes', 'overview', 'run:2']))).toBe(path)
})

test('the stream carries the logs, workflows and operations of all tabs', () => {
  const topics = ['log:5', 'log:7', 'workflow:8', 'workflow:9', 'operation:1', 'operation:2'] as const
  expect(streamPath(new Set(topics))).toBe('/events?topics=&log=5%2C7&workflow=8%2C9&operation=1%2C2')
})
