/** What is refused before anything is written, and what starting, and settling at scale, costs. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { StepPlan, WorkflowPlan } from '@q/schema/workflow'
import { startWorkflow } from '@q/store'
import { by, leaseOf } from './fixture.ts'
import { failed, plain, step, succeeded, workflowFixture } from './workflow-fixture.ts'

const { start, end, store, db, claim } = await workflowFixture()

const everything = { over: { from: 'input', at: '' }, payload: plain() } as const

function sub(workflow: WorkflowPlan): StepPlan {
  return { kind: 'workflow', name: 'w', input: plain(), workflow }
}

const refused: [string, readonly StepPlan[], RegExp][] = [
  [
    'a cycle, by its path',
    [step('a', ['c']), step('b', ['a']), step('c', ['b'])],
    /wait for each other: a → b → c → a|b → c → a → b|c → a → b → c/,
  ],
  ['a step that waits for itself', [step('a', ['a'])], /step "a" waits for itself/],
  ['a parent that is not there', [step('a', ['absent'])], /names "absent", and there is no such step/],
  ['two steps of one name', [step('a'), step('a')], /two steps are named "a"/],
  [
    'a reference to a step that does not exist',
    [step('a', [], { payload: { value: null, holes: { '': { from: 'step', step: 'x', at: '' } } } })],
    /no such step/,
  ],
  [
    'a reference to a member that the payload does not have',
    [step('a', [], { payload: { value: {}, holes: { '/b': { from: 'input', at: '' } } } })],
    /has no place "\/b"/,
  ],
  [
    'an item outside of a map',
    [step('a', [], { payload: { value: null, holes: { '': { from: 'item', at: '' } } } })],
    /it is no map/,
  ],
  [
    'a quorum that cannot be reached',
    [step('a'), step('b', ['a'], { join: { kind: 'quorum', of: 2 } })],
    /quorum of 2 cannot be reached by 1/,
  ],
  ['no steps at all', [], /has no steps/],
  ['a name that items have', [step('a[0]')], /ends like/],
  ['a payload that is no JSON', [step('a', [], { payload: plain({ a: 1n }) })], /bigint/],
  [
    'more steps than allowed',
    Array.from({ length: 100_001 }, (_, index) => step(`s${index}`, [], { task: 't' })),
    /has 100001 steps/,
  ],
  [
    'an option that no run can have',
    [step('a', [], { options: { priority: 1e9 } })],
    /step "a": priority is not a whole number/,
  ],
  ['a mistake in a sub-workflow', [sub({ name: 'in', steps: [step('x', ['y'])] })], /step "w": step "x": it names "y"/],
  [
    'more parallel items in a sub-workflow than the database can count',
    [sub({ name: 'in', steps: [{ kind: 'map', name: 'm', task: 't', ...everything, parallel: 3_000_000_000 }] })],
    /step "w": step "m": parallel is not a whole number from 1 to 100000/,
  ],
  [
    'an unknown policy of a sub-workflow',
    [sub({ name: 'in', steps: [step('x')], onError: 'explode' as 'fail' })],
    /step "w": onError must be one of fail, pause, continue/,
  ],
]

test.each(refused)('refused before anything is written: %s', async (_, steps, why) => {
  const workflows = () => db.selectFrom('q.workflow').select('id').orderBy('id').execute()
  const before = await workflows()
  const problem = await start({ steps }).catch((error: unknown) => error)
  expect(problem).toMatchObject({ code: 'WORKFLOW_INVALID', why: expect.stringMatching(why) as unknown })
  expect(await workflows()).toEqual(before)
})

test('a concurrency key that is the result of another step is refused', async () => {
  const payload = { value: { k: null }, holes: { '/k': { from: 'step', step: 'a', at: '' } } } as const
  const starting = start(
    { steps: [step('a'), step('b', [], { payload })] },
    {},
    { b: { concurrency: { scope: 'b', at: '/k' } } },
  )
  await expect(starting).rejects.toMatchObject({ code: 'WORKFLOW_INVALID' })
})

test('a rollback of the user’s transaction leaves no workflow and no steps', async () => {
  const lane = await store.internLane({ queue: 'default', task: 'rolled-back' })
  const undone = db.transaction().execute(async (trx) => {
    await startWorkflow(trx, {
      plan: { name: 'undone', steps: [step('rolled-back')] },
      input: {},
      tasks: { 'rolled-back': { lane } },
    })
    throw new Error('undo')
  })
  await expect(undone).rejects.toThrow('undo')
  expect(await db.selectFrom('q.workflow').selectAll().where('name', '=', 'undone').execute()).toEqual([])
  expect(await claim('rolled-back')).toEqual([])
})

test('ids rise in the order in which steps can begin, whatever their order in the plan', async () => {
  const workflow = await start({ steps: [step('c', ['b']), step('b', ['a']), step('a')] })
  expect((await store.listSteps(workflow.id)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  await store.cancelWorkflow(workflow.id)
})

/** What a piece of work sends, counted by the server. */
async function statements(work: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    const { rows } = await sql<{ n: string }>`SELECT count(*) AS n FROM q.statement_count`.execute(db)
    return Number(rows[0]!.n)
  }
  const before = await count()
  await work()
  return (await count()) - before
}

test('settling 1000 parents of one child takes as few statements as settling one', async () => {
  // Every statement that touches a workflow, a step or a run fires once.
  await sql`CREATE TABLE q.statement_count (id bigint GENERATED ALWAYS AS IDENTITY)`.execute(db)
  await sql`CREATE FUNCTION q.count_statement() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO q.statement_count DEFAULT VALUES; RETURN NULL; END $$`.execute(db)
  for (const table of ['workflow', 'workflow_step', 'task_run']) {
    await sql`CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON ${sql.table(`q.${table}`)}
      FOR EACH STATEMENT EXECUTE FUNCTION q.count_statement()`.execute(db)
  }
  const settling = async (width: number) => {
    const wide = Array.from({ length: width }, (_, index) => step(`s${index}`, [], { task: 'wide' }))
    const workflow = await start({
      steps: [
        ...wide,
        step(
          'last',
          wide.map(({ name }) => name),
        ),
      ],
    })
    const runs = await claim('wide', width)
    const sent = await statements(() =>
      store.settleTaskRuns(runs.map((run) => ({ lease: leaseOf(run), outcome: succeeded, by }))),
    )
    await end('last')
    expect(await workflow.status()).toBe('SUCCEEDED')
    return sent
  }
  const one = await settling(1)
  expect(await settling(1_000)).toBe(one)
  const failing = await start({
    steps: [step('a'), ...Array.from({ length: 500 }, (_, index) => step(`d${index}`, ['a'], { task: 'd' }))],
  })
  expect(await statements(() => end('a', failed))).toBeLessThan(40)
  expect(await failing.status()).toBe('FAILED')
})
