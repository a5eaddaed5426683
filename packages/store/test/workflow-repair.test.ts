/** Workflows that manual SQL made inconsistent are repaired; all others do not change. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { StepPlan } from '@q/schema/workflow'
import { failed, plain, step, workflowFixture } from './workflow-fixture.ts'

const { start, started, end, endAll, take, store, db, another } = await workflowFixture()

const repair = async () => (await store.repairWorkflows({ limit: 1_000 })).repaired.map(({ kind: fault }) => fault)

const map: StepPlan = {
  kind: 'map',
  name: 'm',
  task: 'item',
  over: { from: 'input', at: '/list' },
  payload: { value: null, holes: { '': { from: 'item', at: '' } } },
  parallel: 1,
}
const within: StepPlan = {
  kind: 'workflow',
  name: 'w',
  input: plain(),
  workflow: { name: 'inner', steps: [step('in')] },
}
const two = [step('a'), step('b', ['a'])]

test('no inconsistency is found in any normal state of a workflow', async () => {
  const undo = { compensate: { task: 'undo', payload: plain() } }
  const whole = [...two, map, within, step('x', [], undo), step('late', [], { options: { delayMs: 3_600_000 } })]
  const workflow = await start({ steps: whole, onError: 'fail' }, { list: [1, 2, 3] })
  expect(await repair()).toEqual([])
  await end('item')
  await end('x')
  expect(await repair()).toEqual([])
  await store.pauseWorkflow(workflow.id, 'ada')
  expect(await repair()).toEqual([])
  await store.resumeWorkflow(workflow.id)
  const running = await take('in')
  await end('a', failed)
  expect(await repair()).toEqual([])
  await store.cancelTaskRuns([running.runId])
  await store.settleTaskRuns([
    {
      lease: { runId: running.runId, fence: running.fence },
      outcome: { status: 'CANCELLED', code: 'TASK_CANCELLED', detail: '' },
      by: { hostname: 'h', pid: 1, thread: 0 },
    },
  ])
  expect(await repair()).toEqual([])
  await end('undo')
  expect(await workflow.status()).toBe('FAILED')
  expect(await repair()).toEqual([])
})

test('a step that waits although all its parents have ended is released', async () => {
  const workflow = await start({ steps: two })
  await end('a')
  await sql`UPDATE q.task_run SET status = 'PENDING', waiting_for = 'parents' WHERE id = ${workflow.run('b')}`.execute(
    db,
  )
  expect(await repair()).toEqual(['not-released'])
  expect(await workflow.states()).toMatchObject({ b: 'AVAILABLE' })
  await end('b')
  expect(await workflow.status()).toBe('SUCCEEDED')
  expect(await repair()).toEqual([])
})

test('a parent that manual SQL ended releases or skips its children, and the workflow ends', async () => {
  const done = await start({ steps: two })
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'hand' WHERE id = ${done.run('a')}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'SUCCEEDED', finished_at = now(), result = '5' WHERE id = ${done.run('a')}`.execute(
    db,
  )
  expect(new Set(await repair())).toEqual(new Set(['wrong-count', 'not-released', 'wrong-open-steps']))
  await end('b')
  expect(await done.status()).toBe('SUCCEEDED')
  const cancelled = await start({ steps: two })
  await sql`UPDATE q.task_run SET status = 'CANCELLED', finished_at = now(), result = '{"code":"TASK_CANCELLED","detail":"manual"}'
    WHERE id = ${cancelled.run('a')}`.execute(db)
  expect(new Set(await repair())).toEqual(new Set(['wrong-count', 'not-skipped', 'wrong-open-steps']))
  expect(await cancelled.states()).toMatchObject({ b: 'SKIPPED UPSTREAM_FAILED' })
  expect(await cancelled.status()).toBe('FAILED')
})

test('wrong counts are corrected: parents, tolerance, open steps', async () => {
  const workflow = await start({ steps: [step('a'), step('b'), step('c', ['a', 'b'])] })
  await sql`UPDATE q.task_run SET waiting_on = 7 WHERE id = ${workflow.run('c')}`.execute(db)
  await sql`UPDATE q.workflow_step SET tolerates = 3 WHERE run_id = ${workflow.run('c')}`.execute(db)
  await sql`UPDATE q.workflow SET open_steps = 9 WHERE id = ${workflow.id}`.execute(db)
  expect(await repair()).toEqual(['wrong-count', 'wrong-open-steps'])
  expect(await repair()).toEqual([])
  for (const name of ['a', 'b', 'c']) await end(name)
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a workflow whose steps have all ended ends', async () => {
  const workflow = await start({ steps: [step('a')] })
  await end('a')
  await sql`UPDATE q.workflow SET status = 'RUNNING', finished_at = NULL, result = NULL WHERE id = ${workflow.id}`.execute(
    db,
  )
  expect(await repair()).toEqual(['not-ended'])
  expect(await workflow.status()).toBe('SUCCEEDED')
})

test('a map or sub-workflow step that still waits although its items or steps have ended is settled', async () => {
  const mapped = await start({ steps: [map, step('next', ['m'])] }, { list: [1] })
  const inner = await start({ steps: [within] })
  const innerId = (await store.listSteps(inner.id))[0]!.subWorkflowId!
  await sql`DELETE FROM q.workflow_edge WHERE child_id = ${mapped.run('m')}`.execute(db)
  await end('item')
  expect(await mapped.states()).toMatchObject({ m: 'PENDING' })
  await sql`UPDATE q.workflow SET parent_run_id = NULL WHERE id = ${innerId}`.execute(db)
  await end('in')
  await sql`UPDATE q.workflow SET parent_run_id = ${inner.run('w')} WHERE id = ${innerId}`.execute(db)
  expect((await repair()).filter((fault) => fault === 'not-settled')).toHaveLength(2)
  expect(await mapped.states()).toMatchObject({ m: 'SUCCEEDED', next: 'AVAILABLE' })
  expect(await inner.status()).toBe('SUCCEEDED')
  await end('next')
})

test('items that wait although there is room are released', async () => {
  const workflow = await start({ steps: [map] }, { list: [1, 2, 3] })
  const first = (await store.listSteps(workflow.id)).find(({ name }) => name === 'm[0]')!
  await sql`UPDATE q.task_run SET status = 'CANCELLED', finished_at = now(), result = '{"code":"TASK_CANCELLED","detail":"manual"}'
    WHERE id = ${first.runId}`.execute(db)
  expect(await repair()).toContain('items-waiting')
  expect(await workflow.states()).toMatchObject({ 'm[1]': 'AVAILABLE', 'm[2]': 'PENDING' })
  await end('item')
  await end('item')
  expect(await workflow.status()).toBe('FAILED')
})

test('steps are held exactly while their workflow is paused, and do not begin in a workflow that is ending', async () => {
  const workflow = await start({ steps: [step('a'), step('b')] })
  await sql`UPDATE q.workflow SET status = 'PAUSED' WHERE id = ${workflow.id}`.execute(db)
  expect(await repair()).toEqual(['not-held-back', 'not-held-back'])
  expect((await store.listSteps(workflow.id)).map(({ waitingFor }) => waitingFor)).toEqual(['workflow', 'workflow'])
  await sql`UPDATE q.workflow SET status = 'RUNNING' WHERE id = ${workflow.id}`.execute(db)
  expect(await repair()).toEqual(['held-back', 'held-back'])
  expect(await workflow.states()).toEqual({ a: 'AVAILABLE', b: 'AVAILABLE' })
  await sql`UPDATE q.workflow SET ends_as = 'CANCELLED' WHERE id = ${workflow.id}`.execute(db)
  expect(await repair()).toEqual(['not-stopped', 'not-stopped'])
  expect(await workflow.status()).toBe('CANCELLED')
})

test('a removed result is RESULT_NOT_AVAILABLE to the steps that need it', async () => {
  const payload = { value: null, holes: { '': { from: 'step', step: 'a', at: '' } } } as const
  const workflow = await start({ steps: [step('a'), step('b', [], { payload })] })
  await sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'hand' WHERE id = ${workflow.run('a')}`.execute(db)
  await sql`UPDATE q.task_run SET status = 'SUCCEEDED', finished_at = now() WHERE id = ${workflow.run('a')}`.execute(db)
  await repair()
  const run = await take('b')
  const text = (await store.stepPayloads([run.runId])).get(run.runId)!
  expect(JSON.parse(text)).toMatchObject({ code: 'RESULT_NOT_AVAILABLE' })
  await store.cancelWorkflow(workflow.id)
})

test('a workflow that another session has locked is left to the next call', async () => {
  const workflow = await start({ steps: two })
  await sql`UPDATE q.workflow SET open_steps = 9 WHERE id = ${workflow.id}`.execute(db)
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('q.workflow').select('id').where('id', '=', workflow.id).forUpdate().execute()
    expect((await another().repairWorkflows({ limit: 100 })).repaired).toEqual([])
  })
  expect(await repair()).toEqual(['wrong-open-steps'])
  await store.cancelWorkflow(workflow.id)
})

test('repairs during settles block no session, and find nothing', async () => {
  const steps = Array.from({ length: 20 }, (_, index) =>
    step(`s${index}`, index < 10 ? [] : [`s${index - 10}`], { task: 'busy' }),
  )
  const workflow = await start({ steps })
  const found: string[] = []
  const over = new AbortController()
  const repairing = (async () => {
    const own = another()
    while (!over.signal.aborted)
      found.push(...(await own.repairWorkflows({ limit: 100 })).repaired.map(({ kind: fault }) => fault))
  })()
  while ((await workflow.status()) === 'RUNNING') await endAll('busy')
  over.abort()
  await repairing
  expect(found).toEqual([])
  expect(await (await started(workflow.id)).status()).toBe('SUCCEEDED')
})
