/** What a task's function is given: checkpoints, steps, runs of its own, a log. */
import { expect, test } from 'vitest'
import { connect } from '@q/store'
import type { RunnerEvent } from '@q/runner'
import { execution } from './execution.ts'
import { eventually } from './fixture.ts'
import type * as tasks from './tasks/resumable.ts'

const logged = (events: readonly RunnerEvent[]) => events.flatMap((event) => (event.type === 'task-log' ? event : []))

test('a later attempt continues from the last checkpoint', async () => {
  const { q } = await execution<typeof tasks>('resumable')
  const counted = await (await q.enqueue('counts', {})).result({ timeout: '100s' })
  expect(counted).toEqual({ attempt: 3, begunAt: 8 })
  const alone = await (await q.enqueue('countsAlone', {})).result({ timeout: '100s' })
  expect(alone).toMatchObject({ resumed: 'half way' })
})

test('a once() step is executed once for all attempts, and its result is saved with the checkpoint', async () => {
  const { q } = await execution<typeof tasks>('resumable')
  const { first, same, nothing, fails, seen } = await (await q.enqueue('steps', {})).result({ timeout: '100s' })
  expect(same).toEqual(first)
  expect(seen).toEqual([first.at, first.at])
  expect({ nothing, fails }).toEqual({ nothing: null, fails: 'thrown' })
})

test('a value that cannot be stored is refused with a code and changes nothing', async () => {
  const { q, store } = await execution<typeof tasks>('resumable')
  const run = await q.enqueue('asksTooMuch', {})
  expect(await run.result({ timeout: '100s' })).toEqual([
    'CHECKPOINT_TOO_LARGE',
    'CHECKPOINT_NOT_JSON',
    'CHECKPOINT_TOO_LARGE',
    'PAYLOAD_NOT_JSON',
    'NAME_INVALID',
  ])
  expect((await store.getTaskRun(run.id))?.run.checkpoint).toEqual({ state: 'kept', once: {} })
})

test('a run can enqueue other runs, with the options of their tasks', async () => {
  const { q, store } = await execution<typeof tasks>('resumable')
  const [child, later] = await (await q.enqueue('parent', {})).result({ timeout: '100s' })
  expect(await q.handle(child!).result({ timeout: '100s' })).toEqual({ key: 'k' })
  const details = await Promise.all([child, later].map((id) => store.getTaskRun(id as never)))
  expect(details.map((detail) => detail?.run)).toMatchObject([
    { priority: 5, concurrency: { scope: 'echoes' } },
    { priority: 0, status: 'PENDING', waitingFor: 'time' },
  ])
})

test('every logged line arrives before the run ends, up to a limit', async () => {
  const { q, events } = await execution<typeof tasks>('resumable')
  await (await q.enqueue('logs', { lines: 300 })).result({ timeout: '100s' })
  const lines = logged(events)
  expect(lines).toHaveLength(301)
  expect(lines[7]).toMatchObject({ task: 'logs', level: 30, line: 'line 7' })
  expect(JSON.parse(lines[7]!.facts!)).toEqual({ line: 7, error: expect.stringContaining('resumable.ts') })
  expect(lines.at(-1)).toMatchObject({ level: 40, line: 'the last\uFFFD', facts: null })
  await (await q.enqueue('logs', { lines: 20_000 })).result({ timeout: '100s' })
  expect(logged(events)).toHaveLength(301 + 10_000)
  expect(logged(events).at(-1)?.line).toMatch(/rest is not kept/)
})

test('log lines are kept with the run and its attempt, for every outcome', async () => {
  const { q, store } = await execution<typeof tasks>('resumable')
  const many = await q.enqueue('logs', { lines: 300 })
  await many.result({ timeout: '100s' })
  const { lines } = await store.readTaskLogs(many.id, { limit: 1_000 })
  expect(lines.map(({ lineNo }) => lineNo)).toEqual(Array.from({ length: 301 }, (_, index) => index + 1))
  const fails = await q.enqueue('logsAndFails', {})
  await expect(fails.result({ timeout: '100s' })).rejects.toMatchObject({ attempts: 3 })
  const tries = (await store.readTaskLogs(fails.id)).lines
  expect(tries.map(({ line, facts }) => [line, facts])).toEqual([1, 2, 3].map((attempt) => ['tried', { attempt }]))
  expect(new Set(tries.map(({ fence }) => fence)).size).toBe(3)
})

test('a busy loop can log a line; it is truncated, and facts that are not JSON are replaced', async () => {
  const { q, store, events } = await execution<typeof tasks>('resumable')
  const run = await q.enqueue('logsBusily', {})
  const line = await eventually(() => logged(events)[0], 'a line of a busy loop')
  expect(line.line).toHaveLength(4_001)
  expect(line).toMatchObject({
    level: 50,
    facts: '{"leftOut":"/deep is an instance of Map, whose contents JSON does not show"}',
  })
  await store.cancelTaskRuns([run.id])
  await expect(run.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
})

test('requests of a run that is being stopped are refused', async () => {
  const { q } = await execution<typeof tasks>('resumable')
  expect(await (await q.enqueue('asksLate', {})).result({ timeout: '100s' })).toBe('RUN_STOPPED')
})

test('a checkpoint under a lost lease is refused, and the run is stopped', async () => {
  const { q, url, runner } = await execution<typeof tasks>('resumable', { threads: 1 })
  const run = await q.enqueue('savesOn', {})
  const connection = connect(url, { purpose: 'control' })
  try {
    const checkpointOf = async () =>
      (
        await connection.db
          .selectFrom('q.task_run')
          .select('checkpoint')
          .where('id', '=', run.id)
          .executeTakeFirstOrThrow()
      ).checkpoint
    await eventually(async () => (await checkpointOf()) ?? undefined, 'a checkpoint')
    await connection.db.transaction().execute(async (trx) => {
      const manual = trx.updateTable('q.task_run').where('id', '=', run.id)
      await manual.set((row) => ({ status: 'AVAILABLE', fence: row('fence', '+', 1) })).execute()
      await manual.set((row) => ({ status: 'RUNNING', fence: row('fence', '+', 1), replica_id: 'another' })).execute()
    })
    const saved = await checkpointOf()
    await eventually(() => (runner.threads().every(({ state }) => state === 'idle') ? true : undefined), 'its end')
    expect(await checkpointOf()).toEqual(saved)
  } finally {
    await connection.close()
  }
})

test('a run that is released at the deadline of a drain keeps its checkpoint and uses no attempt', async () => {
  const { q, runner, store } = await execution<typeof tasks>('resumable', { env: { Q_DRAIN_MS: '0' } })
  const run = await q.enqueue('savesAndWaits', {})
  const recordOf = async () => (await store.getTaskRun(run.id))!.run
  await eventually(async () => ((await recordOf()).checkpoint === null ? undefined : true), 'it saves')
  await runner.drain()
  expect(await recordOf()).toMatchObject({ status: 'AVAILABLE', attempt: 0, checkpoint: { state: 'half way' } })
})
