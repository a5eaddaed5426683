/** fetch → n compiles → link → test → publish, on a replica. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { queue, type AnyTasks, type Queue, type StepView } from '@q/client'
import { build } from '../src/build-pipeline/build.ts'
import { replicaWith } from './replica.ts'

const tasks = new URL('../src/build-pipeline/tasks.ts', import.meta.url)
const soon = { timeout: '2m' } as const
/** Replicas and programs are started; with other work on the machine that takes a while. */
const patient = { timeout: 180_000 }

function producer(url: string): Queue<AnyTasks> {
  const q = queue(url)
  onTestFinished(() => q.close())
  return q
}

const named = (steps: readonly StepView[], name: string) => steps.find((step) => step.name === name)!

test(
  'a build is compiled in parallel, linked, tested and published, each step after its parents',
  patient,
  async () => {
    const { url } = await replicaWith(tasks)
    const q = producer(url)
    const run = await q.start(build, { repo: 'calc', files: 6, expected: null })
    expect(await run.result(soon)).toEqual({
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      passed: true,
      url: expect.stringContaining('https://builds.example/') as string,
    })
    const steps = await run.steps()
    const items = steps.filter(({ kind }) => kind === 'item')
    expect(items).toHaveLength(6)
    for (const { name, parents, startedAt } of steps) {
      for (const parent of parents) {
        expect(named(steps, parent).finishedAt!.getTime(), `${name} after ${parent}`).toBeLessThanOrEqual(
          startedAt!.getTime(),
        )
      }
    }
    expect(steps.map(({ attempt }) => attempt)).toEqual(steps.map(() => 1))
  },
)

test('a build whose tests fail is not published, and its output says so', patient, async () => {
  const { url } = await replicaWith(tasks)
  const q = producer(url)
  const run = await q.start(build, { repo: 'calc', files: 2, expected: -1 })
  expect(await run.result(soon)).toMatchObject({ passed: false, url: { code: 'CONDITION_NOT_MET' } })
  const steps = await run.steps()
  expect(named(steps, 'publish')).toMatchObject({ status: 'SKIPPED', code: 'CONDITION_NOT_MET' })
  expect(named(steps, 'announce')).toMatchObject({ status: 'SKIPPED', code: 'UPSTREAM_SKIPPED' })
})

test('the program prints its progress and the result', patient, async () => {
  const { url } = await replicaWith(tasks)
  const program = fileURLToPath(new URL('../src/build-pipeline/app.ts', import.meta.url))
  const app = spawn(process.execPath, ['--conditions=@q/source', program], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed, [code]] = await Promise.all([text(app.stdout), once(app, 'close')])
  expect(code).toBe(0)
  expect(printed.trimEnd().split('\n').at(-1)).toMatch(/^true https:\/\/builds\.example\/[0-9a-f]{12}$/)
})
