/** What rows of q.task_run and related tables may look like, whichever client writes them. */
import { afterAll, describe, expect, test } from 'vitest'
import { isTerminal, taskStates } from '@q/schema'
import { changeRun, columnsOf, insertRun, rowOf, runIn, type Extra } from './a-run.ts'
import { openDatabase } from './open-database.ts'

const database = await openDatabase()
const { client } = database
afterAll(() => database[Symbol.asyncDispose]())

function broken(constraint: string) {
  return { constraint, code: constraint.startsWith('task_run_') ? '23505' : '23514' }
}

describe('a state has its columns', () => {
  const unfit = broken('run_is_consistent')

  test.each(taskStates.filter((state) => isTerminal(state)))('%s needs the time of its end', async (state) => {
    const id = await runIn(client, 'RUNNING')
    await expect(changeRun(client, id, { ...columnsOf(state), finished_at: null })).rejects.toMatchObject(unfit)
  })

  test.each(['FAILED', 'CANCELLED'] as const)('%s needs a code', async (state) => {
    const id = await runIn(client, 'RUNNING')
    for (const result of [null, '{}', '{"detail": "no code"}', 'null', '1', '["code"]', '"code"', '{"code": null}']) {
      await expect(changeRun(client, id, { ...columnsOf(state), result })).rejects.toMatchObject(unfit)
    }
  })

  test('SUCCEEDED needs no result', async () => {
    const id = await runIn(client, 'RUNNING')
    await changeRun(client, id, { ...columnsOf('SUCCEEDED'), result: null })
    expect(await rowOf(client, id)).toMatchObject({ status: 'SUCCEEDED', result: null })
  })

  test.each(['CLAIMED', 'RUNNING'] as const)('%s needs a replica', async (state) => {
    const id = await runIn(client, 'AVAILABLE')
    await expect(changeRun(client, id, { ...columnsOf(state), replica_id: null })).rejects.toMatchObject(unfit)
  })

  test.each(['PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING'] as const)('%s has not ended', async (state) => {
    const id = await runIn(client, state)
    await expect(changeRun(client, id, { finished_at: new Date() })).rejects.toMatchObject(unfit)
  })

  test('PENDING waits at a gate, AVAILABLE at none', async () => {
    await expect(insertRun(client, { ...columnsOf('PENDING'), waiting_for: null })).rejects.toMatchObject(unfit)
    await expect(insertRun(client, { ...columnsOf('AVAILABLE'), waiting_for: 'time' })).rejects.toMatchObject(unfit)
  })

  test('there are five gates, and a run at the gate `task` keeps the options of its enqueue', async () => {
    await insertRun(client, { ...columnsOf('PENDING'), waiting_for: 'task', asked: '{}' })
    const silent = insertRun(client, { ...columnsOf('PENDING'), waiting_for: 'task' })
    await expect(silent).rejects.toMatchObject(broken('run_is_consistent'))
    for (const waiting_for of ['parents', 'workflow', 'time', 'concurrency']) {
      await insertRun(client, { ...columnsOf('PENDING'), waiting_for })
    }
    const unknown = insertRun(client, { ...columnsOf('PENDING'), waiting_for: 'godot' })
    await expect(unknown).rejects.toMatchObject(broken('run_is_consistent'))
  })

  test.each<Extra>([{ crash_count: -1 }, { epoch: 0 }, { max_attempts: 0 }])('counts are counts: %o', async (count) => {
    const inserting = insertRun(client, { ...columnsOf('AVAILABLE'), ...count })
    await expect(inserting).rejects.toMatchObject(broken('run_is_consistent'))
  })
})

describe('a unique key', () => {
  const again = broken('task_run_unique')

  test('is held by one live run of a task, in any live state', async () => {
    for (const state of ['PENDING', 'AVAILABLE', 'CLAIMED', 'RUNNING'] as const) {
      const unique_key = `live-${state}`
      await runIn(client, state, { unique_key })
      await expect(runIn(client, 'AVAILABLE', { unique_key })).rejects.toMatchObject(again)
    }
  })

  test('is free again when its run has ended', async () => {
    await runIn(client, 'SUCCEEDED', { unique_key: 'ended' })
    await runIn(client, 'FAILED', { unique_key: 'ended' })
    const id = await runIn(client, 'AVAILABLE', { unique_key: 'ended' })
    expect(await rowOf(client, id)).toMatchObject({ unique_live: 'ended' })
  })

  test('is refused to a retry while another live run has it', async () => {
    const id = await runIn(client, 'FAILED', { unique_key: 'taken' })
    await runIn(client, 'AVAILABLE', { unique_key: 'taken' })
    const retrying = changeRun(client, id, { ...columnsOf('AVAILABLE'), epoch: 2, fence: 1 })
    await expect(retrying).rejects.toMatchObject(again)
  })

  test('belongs to its task alone', async () => {
    await runIn(client, 'AVAILABLE', { unique_key: 'shared' })
    const id = await runIn(client, 'AVAILABLE', { unique_key: 'shared', task: 'another' })
    expect(await rowOf(client, id)).toMatchObject({ unique_live: 'shared' })
  })
})

describe('a slot of a concurrency key', () => {
  const held = { concurrency_scope: 'task', concurrency_key: 'k', concurrency_slot: 1 }

  test('is held by one run', async () => {
    const first = await runIn(client, 'RUNNING', held)
    await expect(runIn(client, 'AVAILABLE', held)).rejects.toMatchObject(broken('task_run_slot'))
    await runIn(client, 'AVAILABLE', { ...held, concurrency_slot: 2 })
    await runIn(client, 'AVAILABLE', { ...held, concurrency_key: 'another' })
    await changeRun(client, first, { ...columnsOf('SUCCEEDED'), concurrency_slot: null })
    await runIn(client, 'AVAILABLE', held)
  })

  test.each<[law: string, row: Extra]>([
    ['an AVAILABLE run with a key has one', { concurrency_scope: 'task', concurrency_key: 'k' }],
    ['a run without a key has none', { concurrency_slot: 1 }],
    ['a PENDING run has none', { ...columnsOf('PENDING'), ...held, concurrency_key: 'waits' }],
  ])('%s', async (_, row) => {
    await expect(runIn(client, 'AVAILABLE', row)).rejects.toMatchObject(broken('run_is_consistent'))
  })

  test('is released when its run ends', async () => {
    const id = await runIn(client, 'RUNNING', { ...held, concurrency_key: 'given-back', concurrency_slot: 1 })
    await expect(changeRun(client, id, columnsOf('FAILED'))).rejects.toMatchObject(broken('run_is_consistent'))
  })

  test('has a scope, whose limit applies', async () => {
    const unscoped = runIn(client, 'AVAILABLE', { ...held, concurrency_scope: null, concurrency_key: 'unscoped' })
    await expect(unscoped).rejects.toMatchObject(broken('run_is_consistent'))
  })

  test('is counted from one', async () => {
    const zero = runIn(client, 'AVAILABLE', { ...held, concurrency_key: 'zero', concurrency_slot: 0 })
    await expect(zero).rejects.toMatchObject(broken('run_is_consistent'))
  })
})

describe('related tables', () => {
  test.each([
    [
      'a run has one beat per role',
      '23505',
      `insert into q.task_heartbeat (run_id, role, fence, pid, sent_at, sender_id, hostname)
      select 1, 'runner', n, 1, now(), 'r', 'h' from generate_series(1, 2) n`,
    ],
    [
      'health is one of three words',
      '23514',
      `insert into q.replica_heartbeat (replica_id, last_heartbeat, health) values ('r', now(), 'fine')`,
    ],
    [
      'an attempt ends in a known way',
      '23514',
      `insert into q.task_attempt (run_id, fence, epoch, attempt, outcome, replica_id) values (1, 1, 1, 1, 'vanished', 'r')`,
    ],
    [
      'an attempt is recorded once per claim',
      '23505',
      `insert into q.task_attempt (run_id, fence, epoch, attempt, outcome, replica_id)
      select 1, 1, 1, n, 'failed', 'r' from generate_series(1, 2) n`,
    ],
    [
      'a lane exists once',
      '23505',
      `insert into q.lane (queue, task) select 'default', 'hello' from generate_series(1, 2)`,
    ],
    ['compatibility is declared once', '23505', 'insert into q.compatibility (oldest_program) values (2)'],
    ['compatibility is one row', '23514', 'insert into q.compatibility (only_row, oldest_program) values (false, 2)'],
  ])('%s', async (_, code, statement) => {
    await expect(client.query(statement)).rejects.toMatchObject({ code })
  })
})
