/** Workflows on real replicas, with deaths of replicas and database outages: children begin after their parents. */
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { cluster, eventually } from './fixture.ts'
import { marksFile } from './marks.ts'
import { ownServer } from './own-server.ts'
import { startProcess } from './replica-process.ts'
import { tooEarly, workflowsOf } from './workflow-scene.ts'

const program = fileURLToPath(new URL('./cut-program.ts', import.meta.url))

async function scene() {
  const database = await testDatabase()
  onTestFinished(() => database.drop())
  const marks = marksFile()
  const env = { DATABASE_URL: database.url, Q_PRESET: 'fast' }
  return {
    marks,
    ...workflowsOf(database.url, marks),
    startReplica: () => startProcess({ env }),
    startDoomed: (cut: Record<string, string>) => startProcess({ env: { ...env, ...cut }, program }),
  }
}

test('results of steps reach the steps that need them, the list of a map its next step, and the output the caller', async () => {
  const { url, start } = await cluster()
  const { start: begin, ended } = workflowsOf(url, marksFile())
  await start()
  const echo = (name: string, payload: { value: unknown; holes: Record<string, object> }) =>
    ({ kind: 'task', name, task: 'echo', payload }) as never
  const id = await begin(
    {
      steps: [
        echo('list', { value: [1, { deep: 2 }, null], holes: { '/2': { from: 'input', at: '/three' } } }),
        {
          kind: 'map',
          name: 'each',
          task: 'echo',
          over: { from: 'step', step: 'list', at: '' },
          payload: {
            value: { of: null, also: null },
            holes: { '/of': { from: 'item', at: '' }, '/also': { from: 'step', step: 'list', at: '/0' } },
          },
        },
        echo('fails', { value: null, holes: {} }),
        echo('last', { value: { each: null }, holes: { '/each': { from: 'step', step: 'each', at: '' } } }),
      ],
      output: { value: null, holes: { '': { from: 'step', step: 'last', at: '/each' } } },
    },
    { three: 3 },
  )
  expect(await ended(id)).toMatchObject({
    status: 'SUCCEEDED',
    result: [
      { of: 1, also: 1 },
      { of: { deep: 2 }, also: 1 },
      { of: 3, also: 1 },
    ],
  })
})

test('a step that is cancelled with its workflow is stopped, and the workflow ends', async () => {
  const { start, step, store, ended, startReplica, marks } = await scene()
  await startReplica()
  const id = await start({ steps: [step('long', [], { ms: 600_000 }), step('next', ['long'])] })
  await eventually(() => (marks.count('began', 'long') === 1 ? true : undefined), 'it begins')
  expect(await store.cancelWorkflow(id)).toBe('requested')
  expect(await ended(id)).toMatchObject({ status: 'CANCELLED', steps: { CANCELLED: 2 } })
  expect(marks.count('began', 'next')).toBe(0)
})

test('kill -9 of one of two replicas, again and again: every child begins after its parents, and the workflow succeeds', async () => {
  const { start, step, ended, startReplica, marks, faults } = await scene()
  await startReplica()
  let victim = await startReplica()
  const wide = Array.from({ length: 16 }, (_, place) => step(`w${place}`, ['a'], { ms: 1_000 }))
  const names = wide.map(({ name }) => name)
  const quorum = { ...step('q', names), join: { kind: 'quorum', of: 6 } as const }
  const steps = [step('a'), ...wide, step('b', names), quorum, step('z', ['b', 'q'])]
  const id = await start({ steps })
  for (let kill = 1; kill <= 2; kill++) {
    const isAtWork = () => marks.all().some(({ pid, what }) => pid === victim.pid && what === 'began')
    await eventually(() => (isAtWork() || marks.count('began', 'z') > 0 ? true : undefined), 'it works, or all is done')
    victim.kill('SIGKILL')
    await victim.ended
    victim = await startReplica()
  }
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED', steps: { SUCCEEDED: steps.length } })
  expect(tooEarly(marks.all(), steps)).toEqual([])
  expect(await faults()).toEqual([])
})

test.each([
  [
    'in the middle of releasing dependents: the transaction rolls back, and all of it is repeated',
    { CUT_AT: 'opened', CUT_STATE: 'T' },
  ],
  [
    'after the outcome of a step was written, before it was acknowledged: the step has ended once',
    { CUT_AFTER: 'opened', CUT_AT: 'COMMIT', CUT_STATE: 'I' },
  ],
])('the process dies %s', async (_, cut) => {
  const { start, step, ended, startReplica, startDoomed, marks, faults, store } = await scene()
  const doomed = await startDoomed(cut)
  const steps = [step('a'), step('b', ['a']), step('c', ['a'])]
  const id = await start({ steps })
  expect(await doomed.ended).toEqual({ code: null, signal: 'SIGKILL' })
  const states = (await store.listSteps(id)).map(({ status }) => status)
  // Either all of it happened, or nothing.
  expect(cut.CUT_STATE === 'T' ? states : states.filter((status) => status === 'PENDING')).toEqual(
    cut.CUT_STATE === 'T' ? ['RUNNING', 'PENDING', 'PENDING'] : [],
  )
  await startReplica()
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED' })
  expect(tooEarly(marks.all(), steps)).toEqual([])
  expect(await faults()).toEqual([])
})

test('a database outage loses no step: the workflow continues where it was', async () => {
  const server = await ownServer()
  const marks = marksFile()
  const env = { DATABASE_URL: server.url, Q_PRESET: 'fast' }
  await startProcess({ env })
  await startProcess({ env })
  const { start, step, ended, faults } = workflowsOf(server.url, marks)
  const steps = [step('a'), step('b', ['a'], { ms: 2_000 }), step('c', ['a'], { ms: 2_000 }), step('d', ['b', 'c'])]
  const id = await start({ steps })
  await eventually(() => (marks.count('began', 'b') + marks.count('began', 'c') === 2 ? true : undefined), 'both begin')
  await server.stop('SIGQUIT')
  await server.start()
  expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED', steps: { SUCCEEDED: 4 } })
  expect(tooEarly(marks.all(), steps)).toEqual([])
  expect(await faults()).toEqual([])
})
