/** What a person on call does to real replicas from the page, and what the page shows of it without a reload. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../browser/launch.ts'
import { openScene, type Scene } from '../browser/scene.ts'
import { failedRuns } from './failed-runs.ts'

let browser: Browser
let scene: Scene
let page: Page
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await openScene(browser)
  await failedRuns(scene, 5_000, 'bulk')
  await scene.replica('node-1', { Q_QUEUES: 'default' })
  page = await scene.open('/nodes')
  page.setDefaultTimeout(60_000)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  await browser.close()
})
const row = (name: string) => page.locator('tr.r', { has: page.getByRole('link', { name, exact: true }) })
const runBadge = (text: string) => page.locator('.badge.big', { hasText: text })

test('5 000 failed runs are retried by one operation whose progress is shown', async () => {
  await page.goto(`${scene.origin}/runs?group=bulk`)
  await page.locator('tr.r').first().waitFor()
  await page.keyboard.press('a')
  await page.getByRole('button', { name: /^Retry 5.000 runs$/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Type 5.000 to confirm$/).fill('5000')
  await dialog.getByRole('button', { name: /^Retry 5.000 runs$/ }).click()
  const seen = new Set<string>()
  const progress = page.locator('.opbar b')
  await expect
    .poll(
      async () => {
        const text = await progress.innerText()
        seen.add(text)
        return text
      },
      { timeout: 120_000 },
    )
    .toMatch(/^retried 5.000.runs$/)
  expect(seen.size).toBeGreaterThan(1)
})

test('a drain shows how many runs are left, can be undone, and ends when the node has left', async () => {
  const gate = scene.gate()
  const leaving = await scene.replica('node-2', { Q_QUEUES: 'second' })
  const runs = await Promise.all([1, 2].map(() => scene.q.enqueue('elsewhere', { until: gate.until })))
  await expect.poll(async () => (await scene.store.heldTaskRuns(leaving.id)).length, { timeout: 60_000 }).toBe(2)
  await page.goto(`${scene.origin}/nodes`)
  const order = async () => {
    await row('node-2').getByRole('button', { name: 'Drain…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drain node-2' }).click()
    await row('node-2').getByText('draining, 2 left').waitFor()
  }
  await order()
  await page.getByRole('button', { name: 'Undrain' }).click()
  await row('node-2').getByText('alive').waitFor()
  await order()
  await page.getByText('Asked by owner').waitFor()
  gate.release()
  await row('node-2').getByText('stopped').waitFor()
  await leaving.exited
  await Promise.all(runs.map((run) => run.result()))
})

test('a node that is killed is shown as lost, and its run goes on elsewhere, without a reload', async () => {
  const gate = scene.gate()
  const dying = await scene.replica('node-3')
  await page.goto(`${scene.origin}/nodes`)
  await row('node-3').waitFor()
  const others = await Promise.all(Array.from({ length: 4 }, () => scene.q.enqueue('resume', { until: gate.until })))
  const held = async () => (await scene.store.heldTaskRuns(dying.id)).map(({ runId }) => runId)
  await expect.poll(async () => (await held()).length, { timeout: 60_000 }).toBeGreaterThan(0)
  const [runId] = await held()
  const run = await scene.open(`/runs/${runId}`)
  await run.locator('.badge.big', { hasText: 'RUNNING' }).waitFor()
  await dying.kill('SIGKILL')
  await row('node-3').getByText('lost', { exact: true }).waitFor()
  await page.getByText(/runs? recovered/).waitFor()
  await run.getByText(/Recovered by/).waitFor({ timeout: 60_000 })
  gate.release()
  await run.locator('.badge.big', { hasText: 'SUCCEEDED' }).waitFor({ timeout: 60_000 })
  await Promise.all(others.map((one) => one.result()))
})

test('a run that computes without a pause is stopped from the page', async () => {
  const gate = scene.gate()
  const { id } = await scene.q.enqueue('spin', { until: gate.until })
  await page.goto(`${scene.origin}/runs/${id}`)
  await runBadge('RUNNING').waitFor()
  await page.keyboard.press('c')
  await page.getByRole('button', { name: 'Cancel this run' }).click()
  await runBadge('CANCELLED').waitFor()
  gate.release()
  expect(scene.faults).toEqual([])
})
