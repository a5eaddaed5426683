import { expect, test } from 'vitest'
import { messageCounter } from '../src/machine/counting-proxy.ts'

const startUp = Buffer.concat([int32(12), int32(196_608), Buffer.from('a\0b\0')])
const sslRequest = Buffer.concat([int32(8), int32(80_877_103)])

test('each Sync and each simple query is a round trip, wherever the stream is cut; a lone Sync is no transaction', () => {
  const stream = Buffer.concat([
    sslRequest,
    startUp,
    message('p', 'Q and S in a password'),
    message('P', 'parse'),
    message('B', 'bind'),
    message('E', 'execute'),
    message('S', ''),
    message('S', ''),
    message('Q', 'SELECT 1'),
    message('X', ''),
  ])
  for (const size of [1, 2, 3, 7, stream.length]) {
    const counts = { roundTrips: 0, transactions: 0 }
    const countIn = messageCounter(counts)
    for (let at = 0; at < stream.length; at += size) countIn(stream.subarray(at, at + size))
    expect(counts).toEqual({ roundTrips: 3, transactions: 2 })
  }
})

function message(type: string, body: string): Buffer {
  return Buffer.concat([Buffer.from(type), int32(4 + Buffer.byteLength(body)), Buffer.from(body)])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
