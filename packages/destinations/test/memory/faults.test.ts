import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../../src/memory/connection.ts'
import { memoryDestination, memoryFile, relay } from './memory-destination.ts'
import { heartbeat, recovery } from './reports.ts'

const at = 1_704_067_200_000
const delivered = { kind: 'delivered' }

test('a crash between adding the new value and removing the old one leaves both, and the next try leaves the new one', async () => {
  const { command, fault } = await relay()
  const { sender, content, clock } = await memoryDestination({ command })
  const key = 'task-sentinel/workers/a/heartbeat'
  const timestamps = async () =>
    (await content())[key]?.map((text) => (JSON.parse(text) as { timestamp: number }).timestamp)
  await sender.send([heartbeat('a', at)])
  await fault('kill', 'delete_observations')
  expect(await sender.send([heartbeat('a', at + 1)])).toMatchObject([{ kind: 'failed' }])
  expect(await timestamps()).toEqual([at, at + 1])
  clock.nowMs += 1_000
  expect(await sender.send([heartbeat('a', at + 1)])).toEqual([delivered])
  expect(await timestamps()).toEqual([at + 1])
})

test.each(['open_nodes', 'create_entities', 'add_observations'])(
  'a server that dies at %s loses nothing: the report fails, and its next try is written once',
  async (tool) => {
    const { command, fault } = await relay()
    const { sender, content, clock } = await memoryDestination({ command })
    const reports = [recovery('41', at), recovery('42', at), recovery('43', at + 1)]
    await sender.send(reports.slice(0, 1))
    await fault('kill', tool)
    const results = await sender.send(reports)
    expect(results).toMatchObject(reports.map(() => ({ kind: 'failed', retryAfterMs: 1_000 })))
    expect(results[0]).toMatchObject({ error: expect.stringContaining('Connection closed') })
    clock.nowMs += 1_000
    expect(await sender.send(reports)).toEqual(reports.map(() => delivered))
    const counts = Object.values(await content()).map((texts) => texts.length)
    expect(counts).toEqual([2, 1])
  },
)

test('a server that cannot be started is tried again after pauses that grow, in which reports are postponed', async () => {
  const { sender, clock } = await memoryDestination({ command: ['/does/not/exist'] })
  const pause = async () => (await sender.send([heartbeat('a', at)]))[0]
  expect(await pause()).toEqual({
    kind: 'failed',
    error: 'The memory server failed: spawn /does/not/exist ENOENT',
    retryAfterMs: 1_000,
  })
  clock.nowMs += 400
  expect(await pause()).toMatchObject({
    kind: 'postponed',
    retryAfterMs: 600,
    error: expect.stringContaining('ENOENT'),
  })
  clock.nowMs += 600
  expect(await pause()).toMatchObject({ kind: 'failed', retryAfterMs: 2_000 })
  clock.nowMs += 2_000
  expect(await pause()).toMatchObject({ kind: 'failed', retryAfterMs: 4_000 })
})

test('a command that ends at once is reported with what it printed', async () => {
  const { sender } = await memoryDestination({
    command: [process.execPath, '-e', 'console.error("no such module"); process.exit(1)'],
  })
  expect(await sender.test()).toMatchObject({
    kind: 'failed',
    error: expect.stringMatching(/Connection closed; it printed: no such module$/),
  })
})

test('a call without an answer ends the server, because it may still be writing, and the next call starts another', async () => {
  const { command, fault, log } = await relay()
  const clock = { nowMs: 0 }
  const file = await memoryFile()
  const connection = await openConnection({
    file,
    command,
    nowMs: () => clock.nowMs,
    callMsMax: 500,
    explain: async (text) => text,
  })
  onTestFinished(() => connection.close())
  await fault('mute', 'read_graph')
  await expect(connection.call('read_graph', {})).rejects.toThrow(/timed out/i)
  clock.nowMs += 1_000
  await fault('mute', 'read_graph')
  await expect(connection.call('read_graph', {})).rejects.toThrow(/timed out/i)
  expect(await log()).toEqual(['call read_graph', 'call read_graph'])
})

test('a file with a line that is not JSON fails every report, and the error names the line', async () => {
  const { sender, file } = await memoryDestination()
  await sender.send([heartbeat('a', at), heartbeat('b', at)])
  const whole = await readFile(file, 'utf8')
  await appendFile(file, '\n{"type":"entity","na')
  const [result] = await sender.send([heartbeat('a', at + 1)])
  expect(result).toMatchObject({ kind: 'failed', retryAfterMs: 60_000 })
  expect(result).toMatchObject({ error: expect.stringContaining(`line 3 of ${file} is not JSON`) })
  await writeFile(file, whole)
  expect(await sender.send([heartbeat('a', at + 1)])).toEqual([delivered])
})

test('an error that the server answers is a failure, never a delivery', async () => {
  const { sender } = await memoryDestination({ file: '/does/not/exist/memory.jsonl' })
  expect(await sender.send([heartbeat('a', at)])).toMatchObject([
    { kind: 'failed', error: expect.stringContaining('ENOENT') },
  ])
})

test('a server that ended while nothing was sent is replaced', async () => {
  const { command, fault } = await relay()
  const { sender, clock, content } = await memoryDestination({ command })
  await fault('leave', 'create_entities')
  expect(await sender.send([heartbeat('a', at)])).toEqual([delivered])
  const sendLater = async () => {
    clock.nowMs += 60_000
    return sender.send([heartbeat('b', at)])
  }
  await expect.poll(sendLater).toEqual([delivered])
  expect(Object.keys(await content())).toHaveLength(2)
})

test('a closed destination starts no server', async () => {
  const { sender } = await memoryDestination()
  await sender.close()
  expect(await sender.send([heartbeat('a', at)])).toMatchObject([
    { kind: 'postponed', error: 'The destination is closed.' },
  ])
})

test('closing a destination ends a call in flight, so that another sender can follow', async () => {
  const { command, fault, log } = await relay()
  const { sender } = await memoryDestination({ command })
  await fault('mute', 'open_nodes')
  const sending = sender.send([heartbeat('a', at)])
  await expect.poll(log).toEqual(['call open_nodes'])
  await sender.close()
  expect(await sending).toMatchObject([{ kind: 'failed' }])
})
