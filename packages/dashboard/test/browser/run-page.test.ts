/** The page of one run: what it says of progress, logs and errors. No replica takes part. */
import { queue, type Queue } from '@q/client'
import type { ClaimedRun } from '@q/store'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from './launch.ts'
import { openScene, type Scene } from './scene.ts'
import * as tasks from './tasks.ts'

let browser: Browser
let scene: Scene
let q: Queue<typeof tasks>
let page: Page
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await openScene(browser)
  q = queue(scene.databaseUrl, { tasks })
  page = await scene.open('/')
})
afterAll(async () => {
  await q.close()
  await scene[Symbol.asyncDispose]()
  await browser.close()
})

const go = (path: string) => page.goto(`${scene.origin}${path}`)

async function claim(): Promise<ClaimedRun> {
  const request = { replicaId: 'ghost', tasks: ['hello'], queues: [], limit: 1 }
  const [run] = await scene.store.claimAvailableTaskRuns(request)
  if (run === undefined) throw new Error('There is no run to claim.')
  return run
}

async function report(run: ClaimedRun, progress: number): Promise<void> {
  const sender = { replicaId: 'ghost', hostname: 'test', pid: 1 }
  await scene.store.beatTaskRuns(sender, [{ lease: run, thread: 0, ageMs: 0, progress, note: `at ${progress}` }])
}

test('the time left of an attempt that goes on from an earlier one follows from its own speed', async () => {
  const { id } = await q.enqueue('hello', {})
  await scene.store.releaseTaskRuns([await claim()])
  const again = await claim()
  await report(again, 0.6)
  await go(`/runs/${id}`)
  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByText('at 0.6').waitFor()
  expect(await progress.getByText(/^about .* left$/).count()).toBe(0)
  await report(again, 0.8)
  await progress.getByText('at 0.8').waitFor()
  await progress.getByText(/^about .* left$/).waitFor()
})
