/** Webhooks against a real HTTP server: what is sent, what counts as delivered, and what is tried again. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { destinationKinds, type Report, type Sender, type Settings } from '../../src/index.ts'
import { memoryState } from '../memory-state.ts'
import { receiver, type Receiver } from './receiver.ts'

const nowMs = 1_800_000_000_000

async function open(
  settings: Settings,
  env: Record<string, string> = { HOOK_SECRET: 'canary-s3cret' },
  clock: () => number = () => nowMs,
): Promise<Sender> {
  const sender = await destinationKinds['webhook']!.open({
    name: 'hook',
    settings: { secretVariable: 'HOOK_SECRET', ...settings },
    env: (name) => env[name],
    state: memoryState(),
    nowMs: clock,
    log: () => {},
  })
  onTestFinished(() => sender.close())
  return sender
}

async function hook(): Promise<Receiver> {
  const there = await receiver()
  onTestFinished(() => there[Symbol.asyncDispose]())
  return there
}

function report(id: string, run = '17'): Report {
  const payload = { of: 'run', runId: run, epoch: 1, task: 't', queue: 'default', issue: null } as const
  return {
    id,
    kind: 'status',
    subject: `run/${run}`,
    createdAt: new Date(nowMs),
    attempt: 1,
    payload: { ...payload, status: 'FAILED', previous: 'RUNNING', worker: 'eu-1', at: '2027-01-15T08:00:00.000Z' },
  }
}

const sign = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')

test('a report is one POST with its id, its kind and a signature over timestamp and body', async () => {
  const there = await hook()
  const sender = await open({ url: there.url })
  expect(await sender.send([report('5.1')])).toEqual([{ kind: 'delivered' }])
  const [{ headers, body }] = there.received as [Receiver['received'][number]]
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-q-delivery': '5.1',
    'x-q-kind': 'status',
    'x-q-timestamp': '1800000000',
    'x-q-signature': `v1=${sign('canary-s3cret', `1800000000.${body}`)}`,
  })
  expect(JSON.parse(body)).toMatchObject({
    id: '5.1',
    kind: 'status',
    subject: 'run/17',
    payload: { status: 'FAILED' },
  })
})

test('a repeat has the same id and the same body', async () => {
  const there = await hook()
  const sender = await open({ url: there.url })
  await sender.send([report('5.1')])
  await sender.send([{ ...report('5.1'), attempt: 2 }])
  expect(there.received[0]!.body).toBe(there.received[1]!.body)
})

test('during a rotation there is a signature for both secrets, and secrets are read for each batch', async () => {
  const there = await hook()
  const folder = await mkdtemp(join(tmpdir(), 'q-secret-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const previousSecretFile = join(folder, 'secret')
  await writeFile(previousSecretFile, 'old\n')
  const sender = await open({ url: there.url, previousSecretFile })
  for (const old of ['old', 'older']) {
    await writeFile(previousSecretFile, `${old}\n`)
    await sender.send([report('5.1')])
    const { headers, body } = there.received.at(-1)!
    const signatures = ['canary-s3cret', old].map((secret) => `v1=${sign(secret, `1800000000.${body}`)}`)
    expect(headers['x-q-signature']).toBe(signatures.join(', '))
  }
})

test.each([
  [200, 'delivered'],
  [202, 'delivered'],
  [301, 'rejected'],
  [400, 'rejected'],
  [404, 'rejected'],
  [410, 'rejected'],
  // While secrets are rotated, sender and receiver may differ for a while.
  [401, 'failed'],
  [403, 'failed'],
  [408, 'failed'],
  [429, 'failed'],
  [500, 'failed'],
  [503, 'failed'],
])('HTTP %i means %s', async (status, kind) => {
  const there = await hook()
  there.answer = (response) => void response.writeHead(status, { location: `${there.url}/elsewhere` }).end('because')
  const sender = await open({ url: there.url })
  expect(await sender.send([report('5.1')])).toMatchObject([{ kind }])
  expect(there.received).toHaveLength(1)
})

test('Retry-After is respected, in seconds or as a date, up to an hour', async () => {
  const there = await hook()
  const sender = await open({ url: there.url })
  for (const [header, retryAfterMs] of [
    ['7', 7_000],
    [new Date(nowMs + 60_000).toUTCString(), 60_000],
    ['999999', 3_600_000],
  ] as const) {
    there.answer = (response) => void response.writeHead(429, { 'retry-after': header }).end()
    expect(await sender.send([report('5.1')])).toMatchObject([{ kind: 'failed', retryAfterMs }])
  }
})

test('a receiver that stores the report and then drops the connection is sent it again, under the same id', async () => {
  const there = await hook()
  const sender = await open({ url: there.url })
  there.answer = (response) => void response.destroy()
  expect(await sender.send([report('5.1')])).toMatchObject([{ kind: 'failed' }])
  there.answer = (response) => void response.writeHead(204).end()
  expect(await sender.send([report('5.1')])).toEqual([{ kind: 'delivered' }])
  expect(there.received.map(({ headers }) => headers['x-q-delivery'])).toEqual(['5.1', '5.1'])
})

test('a receiver that hangs fails its own report alone', async () => {
  const there = await hook()
  there.answer = (response, { headers }) => {
    if (headers['x-q-delivery'] !== '1.1') response.writeHead(204).end()
  }
  const sender = await open({ url: there.url, timeoutMs: 300 })
  expect(await sender.send([report('1.1', '1'), report('2.1', '2')])).toMatchObject([
    { kind: 'failed', error: 'It did not answer within 300 ms.' },
    { kind: 'delivered' },
  ])
})

test('a receiver that changes the protocol has answered: its report is given up, and holds up no other', async () => {
  const there = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write('HTTP/1.1 101 \r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'))
  })
  await once(there.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void there.close())
  const { port } = there.address() as AddressInfo
  const sender = await open({ url: `http://127.0.0.1:${port}/hook` })
  expect(await sender.send(reports(1, 17))).toEqual(
    Array.from({ length: 17 }, () => ({ kind: 'rejected', error: 'It answered HTTP 101' })),
  )
})

/** Reports about different runs. */
const reports = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => report(`${first + index}.1`, String(first + index)))

test('at most 16 requests are in flight over all batches, and those of the next batch fill the slots of the last', async () => {
  const there = await hook()
  const open16 = Promise.withResolvers<void>()
  const held: ServerResponse[] = []
  there.answer = (response) => {
    held.push(response)
    if (held.length === 16) open16.resolve()
  }
  const sender = await open({ url: there.url })
  const [first, second] = [sender.send(reports(1, 12)), sender.send(reports(13, 12))]
  await open16.promise
  expect(there.received).toHaveLength(16)
  there.answer = (response) => void response.writeHead(204).end()
  for (const response of held) response.writeHead(204).end()
  expect([...(await first), ...(await second)]).toEqual(Array.from({ length: 24 }, () => ({ kind: 'delivered' })))
  expect(there.received.map(({ headers }) => headers['x-q-delivery']).slice(0, 12)).toEqual(
    reports(1, 12).map(({ id }) => id),
  )
})

test('a report whose turn comes too late for the time of a batch is postponed, without a request', async () => {
  const there = await hook()
  let now = nowMs
  there.answer = (response) => {
    now = nowMs + 8_001
    response.writeHead(204).end()
  }
  const sender = await open({ url: there.url }, undefined, () => now)
  const results = await sender.send(reports(1, 20))
  expect(results.slice(0, 16)).toEqual(Array.from({ length: 16 }, () => ({ kind: 'delivered' })))
  expect(results.slice(16)).toEqual(
    Array.from({ length: 4 }, () => ({ kind: 'postponed', error: 'The receiver is slow.', retryAfterMs: 0 })),
  )
  expect(there.received).toHaveLength(16)
})

test('an error names neither the secret nor the address', async () => {
  const there = await hook()
  await there[Symbol.asyncDispose]()
  const url = `${there.url}?token=canary-t0ken`
  for (const settings of [{ url }, { urlVariable: 'HOOK_URL' }]) {
    const sender = await open(settings, { HOOK_SECRET: 'canary-s3cret', HOOK_URL: url })
    const [result] = await sender.send([report('5.1')])
    expect(result).toEqual({ kind: 'failed', error: 'The connection failed (ECONNREFUSED).' })
  }
})

test('a secret that is missing on this replica is worth another try, elsewhere', async () => {
  const there = await hook()
  const sender = await open({ url: there.url }, {})
  expect(await sender.test()).toEqual({
    kind: 'failed',
    error: 'The environment variable HOOK_SECRET is not set on this replica.',
  })
  expect(there.received).toEqual([])
})

test('a report that is too large is rejected', async () => {
  const there = await hook()
  const sender = await open({ url: there.url })
  const { payload, ...rest } = report('5.1')
  const large = { ...rest, payload: { ...payload, issue: 'x'.repeat(300_000) } } as Report
  expect(await sender.send([large])).toMatchObject([{ kind: 'rejected' }])
  expect(there.received).toEqual([])
})
