/** Maintenance jobs without timers: the clock is a number here, and the store returns what the test gives it. */
import { expect, test } from 'vitest'
import { readConfig } from '@q/runner'
import type { RunId, Store } from '@q/store'
import { maintenanceJobs } from '../src/main/maintenance/maintenance-jobs.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { createJobLoop } from '../src/main/maintenance/job-loop.ts'

function storeWith<T extends keyof Store>(answers: Pick<Store, T>): Store {
  return answers as unknown as Store
}

test('the steps of a maintenance job fail alone', async () => {
  const events: RunnerEvent[] = []
  const done: string[] = []
  const control = storeWith({ takeDuty: async () => ({ mine: false, untilInMs: 60_000 }) })
  const job = createJobLoop(
    { control, replicaId: 'me', observe: (event) => void events.push(event), nowMs: () => 0 },
    {
      name: 'cleanup',
      everyMs: 3_600_000,
      atBoot: true,
      steps: { first: () => Promise.reject(new Error('no')), second: async () => void done.push('second') },
    },
  )
  // At the start even without the duty; later not.
  expect(await job.tick()).toEqual({ afterMs: 3_600_000 })
  expect((await job.tick()).afterMs).toBeLessThan(3_600_000)
  expect(done).toEqual(['second'])
  expect(events).toMatchObject([{ type: 'job-failed', job: 'first' }])
})

test('a job with more to do continues soon, and pauses for longer than it works', async () => {
  let [ms, more] = [0, true]
  const job = createJobLoop(
    {
      control: storeWith({ takeDuty: async () => ({ mine: true, untilInMs: 0 }) }),
      replicaId: 'me',
      observe: () => {},
      nowMs: () => ms,
    },
    {
      name: 'prune',
      everyMs: 60_000,
      steps: { first: async () => ((ms += 500), more), second: async () => undefined },
    },
  )
  const { afterMs } = await job.tick()
  expect(afterMs).toBeGreaterThan(500)
  expect(afterMs).toBeLessThan(5_000)
  more = false
  expect(await job.tick()).toEqual({ afterMs: 60_000 })
})

test('a job that left rows to prune reports it, so that pruning keeps up with any rate', async () => {
  const endless = { next: '1', ids: [], samples: 1_000, failures: 0 } as never
  const store = storeWith({
    pruneTaskRuns: async () => endless,
    pruneWorkflows: async () => endless,
    pruneReplicas: async () => endless,
  })
  const steps = maintenanceJobs(store, readConfig({}), () => {}).flatMap((job) => Object.entries(job.steps))
  const left = steps.filter(([name]) => ['runs', 'workflows', 'replicas'].includes(name)) // not what is repaired
  expect(left).toHaveLength(3)
  for (const [name, job] of left) expect([name, await job()]).toEqual([name, true])
})

test('a walk through a table does a bounded part in each round, and continues there', async () => {
  const looks: (string | undefined)[] = []
  const look = async ({ after }: { readonly after?: string }) => {
    looks.push(after)
    if (looks.length > 1_000) throw new Error('It does not end.')
    return { next: String(looks.length), repaired: [] } as never
  }
  const store = storeWith({ pruneTaskRuns: look, pruneWorkflows: look, repairWorkflows: look })
  const walks = maintenanceJobs(store, readConfig({}), () => {}).filter(({ name }) => /prune|repair/.test(name))
  const steps = walks.flatMap((job) => Object.values(job.steps))
  expect(steps).toHaveLength(3)
  for (const job of steps) {
    looks.length = 0
    await job()
    const first = looks.length
    await job()
    expect([looks[0], looks[first]]).toEqual([undefined, String(first)])
    expect(looks).toHaveLength(2 * first)
  }
})

test.each([
  [{}, undefined],
  [{ Q_PRESET: 'ci' }, 1_800_000],
  [{ Q_PRESET: 'ci', Q_UNROUTABLE_MS: '0' }, undefined],
  [{ Q_UNROUTABLE_MS: '60000' }, 60_000],
])('runs that no replica can serve fail only where that is configured: %o', async (env, expected) => {
  const asked: number[] = []
  const events: RunnerEvent[] = []
  const store = storeWith({
    async failUnroutableTaskRuns({ graceMs }) {
      asked.push(graceMs)
      return ['1' as RunId]
    },
  })
  const job = maintenanceJobs(store, readConfig(env), (event) => void events.push(event)).find(
    ({ name }) => name === 'unroutable',
  )
  await job?.steps['unroutable']?.()
  expect(asked).toEqual(expected === undefined ? [] : [expected])
  expect(events.map(({ type }) => type)).toEqual(expected === undefined ? [] : ['runs-unroutable'])
})

test('removed heartbeats are reported with the replicas that sent them', async () => {
  const events: RunnerEvent[] = []
  const removed = [['silent', 'gone'], []]
  const store = storeWith({
    async deleteStaleReplicaHeartbeats() {
      const ids = removed.shift() ?? []
      return { ids, count: ids.length }
    },
  })
  const jobs = maintenanceJobs(store, readConfig({}), (event) => void events.push(event))
  const cleanup = jobs.find(({ name }) => name === 'cleanup')
  await cleanup?.steps['stale heartbeats']?.()
  await cleanup?.steps['stale heartbeats']?.()
  expect(events).toEqual([{ type: 'stale-heartbeats-removed', replicas: ['silent', 'gone'] }])
})
