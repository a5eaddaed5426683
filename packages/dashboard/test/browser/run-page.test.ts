/** The page of one run: what it says of progress, logs and errors. No replica takes part. */
import { workflow } from '@q/client'
import type { ClaimedRun } from '@q/store'
import { describe, expect, test } from 'vitest'
import { registerNode } from './fake-node.ts'
import { hasBrowser } from './launch.ts'
import { pageScene } from './page-scene.ts'
import type * as tasks from './tasks.ts'

const { scene, q, page, go } = await pageScene()

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

describe.skipIf(!hasBrowser)('the page of a run', () => {
  test('the time left is known unless an attempt continues from a checkpoint of an earlier one', async () => {
    await registerNode(scene.store, { name: 'ghost' })
    const { id } = await q.enqueue('hello', {}, { priority: -2 })
    await scene.store.releaseTaskRuns([await claim()])
    const again = await claim()
    await report(again, 0.6)
    await go(`/runs/${id}`)
    const progress = page.getByRole('region', { name: 'Progress' })
    const left = progress.getByText(/^(about .* left|may end at any time)$/)
    const estimates = async () => {
      const node = await scene.store.nodeDetail('ghost')
      const held = node?.held.find((run) => run.id === id)
      return { node: typeof held?.expectedEndMs === 'number', page: (await left.count()) === 1 }
    }
    await progress.getByText('at 0.6').waitFor()
    await expect.poll(estimates).toEqual({ node: true, page: true })
    await scene.store.checkpointTaskRun(again, '{"row":6}')
    await report(again, 0.7)
    await progress.getByText('at 0.7').waitFor()
    await expect.poll(estimates).toEqual({ node: false, page: false })
  })

  test('a run that was cancelled before it started says so, and not as a fault', async () => {
    const { id } = await q.enqueue('hello', {})
    await q.cancel(id)
    await go(`/runs/${id}`)
    const end = page.getByRole('region', { name: 'TASK_CANCELLED' })
    await end.getByText('without an attempt').waitFor()
    expect(await end.locator('.bad').count()).toBe(0)
  })

  test('a step names the parents that it still waits for', async () => {
    const build = workflow<typeof tasks>()('two parents', ({ step }) => {
      const after = ['first', 'second'].map((name) => step('hello', {}, { name }))
      step('hello', {}, { name: 'third', after })
    })
    const { id } = await q.start(build)
    const ended = await claim()
    const by = { hostname: 'test', pid: 1, thread: 0 }
    await scene.store.settleTaskRuns([{ lease: ended, outcome: { status: 'SUCCEEDED', result: '1' }, by }])
    await go(`/workflows/${id}`)
    const row = page.getByRole('table', { name: 'Steps' }).locator('tr.r', { hasText: 'third' })
    await expect.poll(() => row.locator('td').last().innerText()).toBe('second')
  })

  test('a page that cannot be drawn says so, and the other pages go on', async () => {
    await page.route('**/api/errors?*', (route) => route.fulfill({ json: { items: [null] } }))
    await go('/errors')
    await page.getByRole('alert').getByText('This page cannot be drawn.').waitFor()
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page.unroute('**/api/errors?*')
    expect(await page.getByText('This page cannot be drawn.').count()).toBe(0)
    await page.getByRole('link', { name: 'Errors', exact: true }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor()
  })

  test('a page of an earlier version than its server says so, until it is loaded again', async () => {
    // The stream names the version too: without it, only the answers below do.
    await page.route('**/api/events*', (route) => route.abort())
    await go('/runs')
    await page.locator('.env').waitFor()
    await page.route('**/api/session', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), version: '1.2.4' } })
    })
    const hint = page.getByRole('status').filter({ hasText: 'The server was updated to 1.2.4.' })
    expect(await hint.count()).toBe(0)
    // Going on after a freeze reads everything again.
    await page.keyboard.press('.')
    await page.keyboard.press('.')
    await hint.getByText('This page is of 1.2.3.').waitFor()
    await hint.getByRole('button', { name: 'Reload' }).click()
    await page.locator('.rail, nav').getByText('1.2.4').first().waitFor()
    await hint.waitFor({ state: 'detached' })
    await page.unrouteAll()
  })

  test('a workflow of more than a thousand steps is shown with all of them', async () => {
    const build = workflow<typeof tasks>()('large', ({ step }) => {
      for (let n = 1; n <= 1_100; n++) step('hello', {}, { name: `step-${n}` })
    })
    const { id } = await q.start(build)
    await go(`/workflows/${id}`)
    const rows = page.getByRole('table', { name: 'Steps' }).locator('tr.r')
    await page.getByText(/^the first 300 of 1\s100$/).waitFor()
    for (let shown = 300; shown < 1_100; shown += 300) await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(1_100)
    await rows.getByText('step-1100', { exact: true }).waitFor()
  })

  test('of a log of 10 000 lines the last are drawn at once, and the earlier ones on request', async () => {
    const { id } = await q.enqueue('hello', {}, { priority: -1 })
    const lease = await claim()
    expect(lease.runId).toBe(id)
    for (let from = 1; from <= 10_000; from += 1_000) {
      const lines = Array.from({ length: 1_000 }, (_, n) => from + n)
      await scene.store.appendTaskLogs(
        lines.map((lineNo) => ({ lease, lineNo, level: 30, line: `line ${lineNo}.`, ageMs: 0 })),
      )
    }
    await go(`/runs/${id}`)
    const log = page.getByRole('list', { name: 'Log lines' })
    const line = (n: number) => log.getByText(`line ${n}.`, { exact: true })
    await line(10_000).waitFor()
    await log.getByText(/^the last 2\s000 of 10\s000 lines/).waitFor()
    expect(await line(1).count()).toBe(0)
    for (let drawn = 2_000; drawn < 10_000; drawn += 2_000)
      await log.getByRole('button', { name: 'Show earlier' }).click()
    await expect.poll(() => line(1).count()).toBe(1)
    expect(await line(10_000).count()).toBe(1)
  })
})
