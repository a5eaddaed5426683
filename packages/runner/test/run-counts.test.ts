/** What a replica counts of its runs, and that a flush neither loses nor doubles a count. */
import type { Flush, RecoveredRun, RunId } from '@q/store'
import { expect, test } from 'vitest'
import { createCountFlusher } from '../src/main/stats/flush-counts.ts'
import { createRunCounts, type RunCounts } from '../src/main/stats/run-counts.ts'
import { signatureOf } from '../src/main/stats/error-signature.ts'
import { startedRun } from './threads-scene.ts'

const counts = (count: (status: string) => void = () => {}) => createRunCounts({ version: '1', count })
const error = signatureOf({ code: 'TIMEOUT', task: 'short', detail: 'late' })

test('starts, ends, times and crashes are counted by queue and task', () => {
  const own = counts()
  own.started(startedRun('1', { waitMs: 3 }))
  own.started(startedRun('2', { queue: 'other' }))
  own.ended(startedRun('1'), { outcome: 'succeeded', tookMs: 10 })
  own.ended(startedRun('2', { queue: 'other' }), { outcome: 'retried', crashed: true, tookMs: 1, error })
  const { runs, errors } = own.take()!
  expect(runs).toMatchObject([
    { queue: 'default', task: 'short', started: 1, succeeded: 1, busyMs: 10, wait: [0, 0, 0, 0, 1] },
    { queue: 'other', task: 'short', started: 1, retried: 1, crashed: 1, duration: [1] },
  ])
  expect(errors).toMatchObject([{ code: 'TIMEOUT', seen: 1, lastRunId: '2', tasks: ['short'], version: '1' }])
  expect(own.take()).toBeUndefined()
})

test('only the first start of a run counts as waiting: later starts waited for a backoff, a crash or a manual retry', () => {
  const own = counts()
  for (const again of [{ attempt: 2 }, { crashCount: 1 }, { epoch: 2 }])
    own.started(startedRun('1', { waitMs: 5, ...again }))
  expect(own.take()!.runs).toMatchObject([{ started: 3, wait: [] }])
})

test('a run that was withdrawn before it began is not counted as started', () => {
  const own = counts()
  own.started(startedRun('1', { waitMs: 1 }))
  own.notBegun(startedRun('1', { waitMs: 1 }))
  expect(own.take()!.runs).toMatchObject([{ started: 0, wait: [0] }])
})

test('the heartbeat counts ends, not attempts that are started again', () => {
  const counted: string[] = []
  const own = counts((status) => void counted.push(status))
  for (const outcome of ['succeeded', 'failed', 'cancelled', 'retried'] as const)
    own.ended(startedRun('1'), { outcome })
  expect(counted).toEqual(['SUCCEEDED', 'FAILED', 'CANCELLED'])
})

test('a recovered run is counted as crashed and by its outcome; a run that was only claimed is not', () => {
  const own = counts()
  const lost: RecoveredRun = {
    runId: '1' as RunId,
    task: 'a',
    queue: 'q',
    was: 'RUNNING',
    became: 'FAILED',
    code: 'WORKER_CRASHED',
  }
  own.recovered(lost)
  own.recovered({ ...lost, became: 'AVAILABLE' })
  own.recovered({ ...lost, was: 'CLAIMED', became: 'AVAILABLE' })
  const { runs, errors } = own.take()!
  expect(runs).toMatchObject([{ queue: 'q', task: 'a', started: 0, crashed: 2, failed: 1, retried: 1 }])
  expect(errors).toMatchObject([{ code: 'WORKER_CRASHED', seen: 2 }])
})

/** A database whose next answers are lost, whatever it has committed. */
function database(lost: number) {
  const sent: Flush[] = []
  const added = new Map<number, number>()
  return {
    sent,
    sum: () => [...added.values()].reduce((sum, one) => sum + one, 0),
    async flushTally(flush: Flush) {
      sent.push(flush)
      const repeated = added.has(flush.flushNo)
      if (!repeated)
        added.set(
          flush.flushNo,
          flush.runs.reduce((sum, { started }) => sum + started, 0),
        )
      if (lost-- > 0) throw new Error('the connection broke')
      return { repeated, replicas: 1 }
    },
  }
}

const start = (own: RunCounts, runs: number) => {
  for (let run = 0; run < runs; run++) own.started(startedRun(String(run)))
}

test('a flush whose response is lost is sent again unchanged, and later counts go with the next one', async () => {
  const own = counts()
  const store = database(2)
  const flusher = createCountFlusher({ store, replicaId: 'r', counts: own })
  start(own, 3)
  await expect(flusher.tick()).rejects.toThrow('broke')
  start(own, 4)
  await expect(flusher.tick()).rejects.toThrow('broke')
  await flusher.tick()
  await flusher.tick()
  expect(store.sent.map(({ flushNo }) => flushNo)).toEqual([1, 1, 1, 2])
  expect(store.sent[1]).toBe(store.sent[0])
  expect(store.sum()).toBe(7)
})

test('the last flush sends an unanswered one and everything since', async () => {
  const own = counts()
  const store = database(1)
  const flusher = createCountFlusher({ store, replicaId: 'r', counts: own })
  start(own, 3)
  await expect(flusher.tick()).rejects.toThrow('broke')
  start(own, 4)
  await flusher.flush()
  expect(store.sum()).toBe(7)
})

test('a replica without counts sends nothing', async () => {
  const store = database(0)
  const flusher = createCountFlusher({ store, replicaId: 'r', counts: counts() })
  await flusher.tick()
  await flusher.flush()
  expect(store.sent).toEqual([])
})

test('replicas of a large fleet flush less often, about three a second in total', async () => {
  const own = counts()
  const flusher = createCountFlusher({
    store: { flushTally: async () => ({ repeated: false, replicas: 300 }) },
    replicaId: 'r',
    counts: own,
  })
  start(own, 1)
  const { afterMs } = await flusher.tick()
  expect(afterMs).toBeGreaterThanOrEqual(90_000)
  expect(afterMs).toBeLessThanOrEqual(110_000)
})
