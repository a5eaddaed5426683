/** Code that a run leaves behind does not affect the next run of its thread, slot or child. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RunId } from '@q/store'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import type { OnMessage } from '../src/main/executors/executor.ts'
import type { ContextReply } from '../src/protocol/messages.ts'
import { slotMemoryAt, word } from '../src/protocol/slot-layout.ts'
import { openRunSlot } from '../src/thread/run-slot.ts'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import type * as tasks from './tasks/leftovers.ts'
import { inProcesses, onThreads } from './executor-scene.ts'

test('signs of life after the end of a run do not count for the next run in its slot', async () => {
  const { send } = onThreads('leftovers')
  const before = await send('beatsOn').result()
  const next = send('silentBeside')
  expect(await next.result()).toBe(before)
  expect(next.monitor.counts().signs).toBe(0)
  expect(next.monitor.progressUpdate()).toEqual({ progress: null, note: null })
})

test('code that ends long after its run was abandoned does not block stop requests of the next run', async () => {
  const board = createRunMonitors(1)
  const facts = {
    lease: { runId: '1' as RunId, fence: 1 },
    task: 't',
    isolation: 'thread',
    timeoutMs: null,
    maxSilentMs: null,
  } as const
  const { seq } = board.open(facts, 0, 0)
  const givenUp = openRunSlot(board.memory, 0, { seq, fenced: false })
  const next = board.open(facts, 0, 0)
  const { signal } = openRunSlot(board.memory, 0, { seq: next.seq, fenced: false })
  const lastToWait = Atomics.waitAsync(slotMemoryAt(board.memory, 0).words, word.stop, 0)
  givenUp[Symbol.dispose]()
  await lastToWait.value
  next.stop('cancelled')
  await eventually(() => (signal.aborted ? true : undefined), 'its signal')
  expect(() => givenUp.heartbeat()).toThrow('This run has ended.')
})

test('a reply that arrives after its run has ended does not go to another run', async () => {
  const { send } = onThreads('leftovers', 2)
  const replies: { id: number; reply: (answer: ContextReply) => void }[] = []
  const onMessage = (message: { kind: string; id?: number }, reply: (answer: ContextReply) => void) =>
    void (message.kind === 'request' && replies.push({ id: message.id ?? 0, reply }))
  // On the first thread, which asks for the first time; the run that ends is on the second, and asks twice.
  const first = send('asks', { slot: 1, onMessage })
  await eventually(() => replies[0], 'a question')
  const ended = await send('asksAndEnds', { onMessage }).result()
  const late = replies[2]
  replies[0]?.reply({ id: replies[0].id, ok: true, value: '1' })
  await first.result()
  const next = send('asks', { slot: 1, onMessage })
  const asked = await eventually(() => replies[3], 'another question')
  late?.reply({ id: late.id, ok: true, value: 'of another run' })
  asked.reply({ id: asked.id, ok: true, value: 'its own' })
  const { id, threadId } = (await next.result()) as { id: string; threadId: number }
  expect({ id, isElsewhere: threadId !== ended }).toEqual({ id: 'its own', isElsewhere: true })
})

test.each(['rejectsLate', 'exitsLate'])(
  'the result of a run is not lost when its leftover code fails: %s',
  async (name) => {
    const { send } = onThreads('leftovers')
    await send('where').result()
    const { result } = send(name)
    // This thread is busy, so the result and the leftover of 20 ms later both wait to be read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    const there = await result()
    expect(await send('where').result()).toMatchObject({ threadId: there })
  },
)

test('a run that closes its parentPort still reports its end, and so does the next run on its thread', async () => {
  const { send } = onThreads('leftovers')
  const message: string[] = []
  const before = await send('closesItsPort', { onMessage: ({ kind }) => void message.push(kind) }).result()
  const onMessage: OnMessage = (asked, reply) =>
    asked.kind === 'request' && reply({ id: asked.id, ok: true, value: '1' })
  expect(await send('asks', { onMessage }).result()).toEqual({ id: '1', threadId: before })
  expect(message).toEqual(['log'])
})

test('a run that destroys its channel to the main thread still ends', async () => {
  const { send } = onThreads('leftovers')
  expect(await send('cutsItsLine').result()).toBe('done')
})

test('a run whose thread dies before it takes the run is executed elsewhere without using an attempt', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'q-leftovers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [busy, file] = [join(folder, 'busy'), join(folder, 'now')]
  const { send } = onThreads('leftovers')
  const before = await send('diesBehind', { payload: { busy, file } }).result()
  // Between the result and the leftover code the thread would still take a run.
  await eventually(() => (existsSync(busy) ? true : undefined), 'the thread is busy')
  const next = send('where')
  writeFileSync(file, '')
  expect(await next.result()).not.toMatchObject({ threadId: before })
})

test.each(['exitsBeside', 'throwsBeside'])('%s after its end does not end the next run on its thread', async (task) => {
  const { send } = onThreads('leftovers')
  const before = await send(task).result()
  expect(await send('victim').result()).toBe(before)
})

test('a stop request for a run whose code has ended does not stop the next run of its child', async () => {
  const { send } = inProcesses('stubborn', ['talks'])
  const ended = send('whereAlone')
  await ended.result()
  const next = send('talks', { slot: 1, payload: { ms: 2_000 } })
  await eventually(() => (next.monitor.counts().signs > 0 ? true : undefined), 'the next run')
  ended.monitor.stop('cancelled') // its outcome is still being written
  expect(await next.result()).toBe('talked')
})

test('memory warnings of one run do not explain the death of the next run of its child', async () => {
  const { send } = inProcesses('leftovers', ['complains'])
  expect(await send('complains').result()).toBeTypeOf('number')
  expect(await send('crashes').report).toMatchObject({ ended: 'crashed', code: 'WORKER_CRASHED' })
})

test('memory that earlier runs of a child have kept does not count against the next run', async () => {
  const { send } = inProcesses('leftovers', ['keepsMemory', 'usesLittle'], 64)
  for (let round = 0; round < 10; round++) {
    const kept = await send('keepsMemory').report
    // The one that exceeds the limit may be seen to do so.
    expect(kept).toMatchObject(kept.ended === 'crashed' ? { code: 'OUT_OF_MEMORY' } : { ended: 'returned' })
    expect(await send('usesLittle').result()).toBe('little')
  }
})

describe.each(['timedOutByTimer', 'timedOutByTimerAlone'] as const)('%s', (task) => {
  test('code that sends heartbeats from a timer is stopped like any other, with time to clean up', async () => {
    const { q, events } = await execution<typeof tasks>('leftovers')
    const run = await q.enqueue(task, {})
    await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(events).toContainEqual(expect.objectContaining({ type: 'task-log', line: 'cleaned up' }))
  })
})
