/** What replicas do for all of them, called without time: the clock is a number here, and the database answers as told. */
import { expect, test } from 'vitest'
import { readConfig } from '@q/runner'
import type { RunId, Store } from '@q/store'
import { chores } from '../src/main/chores.ts'
import type { RunnerEvent } from '../src/main/events.ts'
import { createChore } from '../src/main/loops/chore.ts'

function told<T extends keyof Store>(answers: Pick<Store, T>): Store {
  return answers as unknown as Store
}

test('of a chore each job fails alone', async () => {
  const events: RunnerEvent[] = []
  const done: string[] = []
  const control = told({ takeDuty: async () => ({ mine: false, untilInMs: 60_000 }) })
  const chore = createChore(
    { control, replicaId: 'me', observe: (event) => void events.push(event), nowMs: () => 0 },
    {
      name: 'cleanup',
      everyMs: 3_600_000,
      atBoot: true,
      jobs: { first: () => Promise.reject(new Error('no')), second: async () => void done.push('second') },
    },
  )
  // At boot whoever has the duty; later not.
  expect(await chore.tick()).toEqual({ afterMs: 3_600_000 })
  expect((await chore.tick()).afterMs).toBeLessThan(3_600_000)
  expect(done).toEqual(['second'])
  expect(events).toMatchObject([{ type: 'job-failed', job: 'first' }])
})

test('a chore of which there is more comes back soon, and rests for longer than it works', async () => {
  let [ms, more] = [0, true]
  const chore = createChore(
    {
      control: told({ takeDuty: async () => ({ mine: true, untilInMs: 0 }) }),
      replicaId: 'me',
      observe: () => {},
      nowMs: () => ms,
    },
    { name: 'prune', everyMs: 60_000, jobs: { first: async () => ((ms += 500), more), second: async () => undefined } },
  )
  const { afterMs } = await chore.tick()
  expect(afterMs).toBeGreaterThan(500)
  expect(afterMs).toBeLessThan(5_000)
  more = false
  expect(await chore.tick()).toEqual({ afterMs: 60_000 })
})

test('what was left to be pruned is told: however fast rows come, they are pruned as fast', async () => {
  const endless = { next: '1', ids: [], samples: 1_000, failures: 0 } as never
  const store = told({
    pruneTaskRuns: async () => endless,
    pruneWorkflows: async () => endless,
    pruneReplicas: async () => endless,
  })
  const jobs = chores(store, readConfig({}), () => {}).flatMap((chore) => Object.entries(chore.jobs))
  const left = jobs.filter(([name]) => ['runs', 'workflows', 'replicas'].includes(name)) // not what is repaired
  expect(left).toHaveLength(3)
  for (const [name, job] of left) expect([name, await job()]).toEqual([name, true])
})

test('what walks through a table does a bounded part of it each round, and goes on there', async () => {
  const looks: (string | undefined)[] = []
  const look = async ({ after }: { readonly after?: string }) => {
    looks.push(after)
    if (looks.length > 1_000) throw new Error('It does not end.')
    return { next: String(looks.length), healed: [] } as never
  }
  const store = told({ pruneTaskRuns: look, pruneWorkflows: look, repairWorkflows: look })
  const walks = chores(store, readConfig({}), () => {}).filter(({ name }) => /prune|repair/.test(name))
  const jobs = walks.flatMap((chore) => Object.values(chore.jobs))
  expect(jobs).toHaveLength(3)
  for (const job of jobs) {
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
  const store = told({
    async failUnroutableTaskRuns({ graceMs }) {
      asked.push(graceMs)
      return ['1' as RunId]
    },
  })
  const chore = chores(store, readConfig(env), (event) => void events.push(event)).find(
    ({ name }) => name === 'unroutable',
  )
  await chore?.jobs['unroutable']?.()
  expect(asked).toEqual(expected === undefined ? [] : [expected])
  expect(events.map(({ type }) => type)).toEqual(expected === undefined ? [] : ['runs-unroutable'])
})
