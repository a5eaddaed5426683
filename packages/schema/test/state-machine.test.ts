/** The database's guard, held against the table in task-states.ts, pair by pair. */
import { afterAll, describe, expect, test } from 'vitest'
import { initialStates, isTerminal, taskStates, transitions, type TaskState } from '@q/schema'
import { changeRun, columnsOf, insertRun, rowOf, runIn, type Extra } from './a-run.ts'
import { openDatabase } from './open-database.ts'

const database = await openDatabase()
const { client } = database
afterAll(() => database[Symbol.asyncDispose]())

const refused = { code: 'QS001' }
const terminal = taskStates.filter((state) => isTerminal(state))

describe('a new run', () => {
  test.each(initialStates)('may be %s', async (state) => {
    const id = await insertRun(client, columnsOf(state))
    expect(await rowOf(client, id)).toMatchObject({ status: state })
  })

  test.each(taskStates.filter((state) => !initialStates.includes(state)))('is never %s', async (state) => {
    const refusal = { ...refused, message: `a run cannot begin as ${state}` }
    await expect(insertRun(client, columnsOf(state))).rejects.toMatchObject(refusal)
  })

  test.each<Extra>([{ fence: 1 }, { attempt: 1 }, { crash_count: 1 }, { epoch: 2 }])(
    'has no history: %o is refused',
    async (history) => {
      await expect(insertRun(client, { ...columnsOf('AVAILABLE'), ...history })).rejects.toMatchObject(refused)
    },
  )
})

describe('within one epoch a run goes', () => {
  const pairs = taskStates.flatMap((from) => taskStates.map((to) => ({ from, to, legal: isLegal(from, to) })))

  test.each(pairs.filter((pair) => pair.legal))('from $from to $to', async ({ from, to }) => {
    const id = await runIn(client, from)
    await changeRun(client, id, columnsOf(to))
    expect(await rowOf(client, id)).toMatchObject({ status: to })
  })

  test.each(pairs.filter((pair) => !pair.legal))('never from $from to $to', async ({ from, to }) => {
    const id = await runIn(client, from)
    await expect(changeRun(client, id, columnsOf(to))).rejects.toMatchObject(refused)
    expect(await rowOf(client, id)).toMatchObject({ status: from })
  })

  test('and that is all there is: 81 pairs', () => {
    expect(pairs).toHaveLength(81)
  })
})

describe('a terminal run', () => {
  const retry = { epoch: 2, fence: 1 }

  const pairs = terminal.flatMap((from) => taskStates.map((to) => ({ from, to, legal: initialStates.includes(to) })))

  test.each(pairs.filter((pair) => pair.legal))('$from begins again as $to in the next epoch', async ({ from, to }) => {
    const id = await runIn(client, from)
    await changeRun(client, id, { ...columnsOf(to), ...retry })
    expect(await rowOf(client, id)).toMatchObject({ status: to, epoch: 2 })
  })

  test.each(pairs.filter((pair) => !pair.legal))('$from never begins again as $to', async ({ from, to }) => {
    const id = await runIn(client, from)
    await expect(changeRun(client, id, { ...columnsOf(to), ...retry })).rejects.toMatchObject(refused)
  })

  test.each<Extra>([{ epoch: 2 }, { fence: 1 }, { epoch: 3, fence: 1 }, { epoch: 1, fence: 1 }])(
    'does not begin again with only %o',
    async (half) => {
      const id = await runIn(client, 'FAILED')
      await expect(changeRun(client, id, { ...columnsOf('AVAILABLE'), ...half })).rejects.toMatchObject(refused)
    },
  )

  test.each<Extra>([
    { result: '{"code": "TIMEOUT"}' },
    { result: null },
    { finished_at: new Date(0) },
    { replica_id: 'another-replica' },
    { replica_id: null },
    { fence: 7 },
    { epoch: 2 },
    { attempt: 3 },
    { crash_count: 1 },
    { task: 'another' },
    { payload: '{"a": 2}' },
  ])('keeps its outcome: %o is refused', async (change) => {
    const id = await runIn(client, 'SUCCEEDED')
    const before = await rowOf(client, id)
    await expect(changeRun(client, id, change)).rejects.toMatchObject(refused)
    expect(await rowOf(client, id)).toEqual(before)
  })

  test('may change in columns other than its outcome', async () => {
    const id = await runIn(client, 'SUCCEEDED')
    await changeRun(client, id, { trace: 'seen', updated_at: new Date() })
    expect(await rowOf(client, id)).toMatchObject({ status: 'SUCCEEDED', trace: 'seen' })
  })
})

test('a fence never falls', async () => {
  const id = await runIn(client, 'AVAILABLE')
  await changeRun(client, id, { ...columnsOf('CLAIMED'), fence: 5 })
  await expect(changeRun(client, id, { ...columnsOf('AVAILABLE'), fence: 4 })).rejects.toMatchObject(refused)
  await expect(changeRun(client, id, { fence: 4 })).rejects.toMatchObject(refused)
})

describe('the counts', () => {
  test.each<{ from: TaskState; to: TaskState; change: Extra }>([
    { from: 'AVAILABLE', to: 'RUNNING', change: { attempt: 1 } },
    { from: 'RUNNING', to: 'FAILED', change: { crash_count: 1 } },
  ])('may change from $from to $to: $change', async ({ from, to, change }) => {
    const id = await runIn(client, from)
    await changeRun(client, id, { ...columnsOf(to), ...change })
    expect(await rowOf(client, id)).toMatchObject(change)
  })

  test('an attempt that is returned was counted before', async () => {
    const id = await runIn(client, 'AVAILABLE')
    await changeRun(client, id, { ...columnsOf('RUNNING'), attempt: 1 })
    await changeRun(client, id, { ...columnsOf('AVAILABLE'), attempt: 0 })
    expect(await rowOf(client, id)).toMatchObject({ attempt: 0 })
  })

  test.each<{ from: TaskState; to: TaskState; change: Extra }>([
    { from: 'AVAILABLE', to: 'CLAIMED', change: { attempt: 1 } },
    { from: 'AVAILABLE', to: 'RUNNING', change: { attempt: 2 } },
    { from: 'AVAILABLE', to: 'RUNNING', change: { crash_count: 1 } },
    { from: 'CLAIMED', to: 'AVAILABLE', change: { crash_count: 1 } },
    { from: 'RUNNING', to: 'FAILED', change: { attempt: 1 } },
    { from: 'RUNNING', to: 'AVAILABLE', change: { crash_count: 2 } },
    { from: 'RUNNING', to: 'RUNNING', change: { attempt: 1 } },
    { from: 'RUNNING', to: 'RUNNING', change: { fence: 1 } },
    { from: 'PENDING', to: 'PENDING', change: { crash_count: 1 } },
  ])('stay from $from to $to: $change is refused', async ({ from, to, change }) => {
    const id = await runIn(client, from)
    await expect(changeRun(client, id, { ...columnsOf(to), ...change })).rejects.toMatchObject(refused)
  })

  test('begin again at 0 in a new epoch, or not at all', async () => {
    const id = await runIn(client, 'FAILED')
    const again = { ...columnsOf('AVAILABLE'), epoch: 2, fence: 1 }
    await expect(changeRun(client, id, { ...again, attempt: 1 })).rejects.toMatchObject(refused)
    await changeRun(client, id, again)
    expect(await rowOf(client, id)).toMatchObject({ epoch: 2, attempt: 0, crash_count: 0 })
  })
})

test('a live run stays in its epoch', async () => {
  const id = await runIn(client, 'AVAILABLE')
  await expect(changeRun(client, id, { epoch: 2 })).rejects.toMatchObject(refused)
  await expect(changeRun(client, id, { ...columnsOf('CLAIMED'), epoch: 2, fence: 1 })).rejects.toMatchObject(refused)
})

test('manual SQL may set a run to RUNNING', async () => {
  const id = await runIn(client, 'AVAILABLE')
  const query = `UPDATE q.task_run SET status='RUNNING', replica_id='fake-replica-id' WHERE id = $1`
  expect((await client.query(query, [id])).rowCount).toBe(1)
  expect(await rowOf(client, id)).toMatchObject({ status: 'RUNNING', started_at: null, held: true, ready: null })
})

test('a refusal names the run, both states and where to read on', async () => {
  const id = await runIn(client, 'SUCCEEDED')
  await expect(changeRun(client, id, columnsOf('RUNNING'))).rejects.toMatchObject({
    message: `run ${id}: SUCCEEDED -> RUNNING is not a legal change`,
    hint: expect.stringContaining('docs/reference/states.md'),
  })
})

/** A live row is written to without changing its state; a terminal row's end is never written again. */
function isLegal(from: TaskState, to: TaskState): boolean {
  const next: readonly TaskState[] = transitions[from]
  return next.includes(to) || (from === to && !isTerminal(from))
}
