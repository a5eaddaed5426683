/** The page stays live where browsers, proxies and databases make that hard. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { connect } from '@q/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../browser/launch.ts'
import { openScene } from '../browser/scene.ts'
import { bufferingProxy } from './buffering-proxy.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

const state = (page: Page) => page.locator('.top .live')

test('seven tabs of one browser are all live, with one stream', async () => {
  await using scene = await openScene(browser)
  const first = await scene.open('/queues')
  const tabs = [first]
  for (let tab = 1; tab < 7; tab++) {
    const page = await first.context().newPage()
    await page.goto(`${scene.origin}/queues`)
    tabs.push(page)
  }
  for (const tab of tabs) await state(tab).getByText('live').waitFor()
  await scene.q.enqueue('hello', { name: 'a' })
  await scene.store.pauseQueue('default', 'oncall', 'seven tabs')
  for (const tab of tabs) {
    await tab.bringToFront()
    await tab.getByText('seven tabs').first().waitFor()
  }
  expect(scene.streams()).toBe(1)
  await Promise.all(tabs.map((tab) => tab.close()))
  await expect.poll(() => scene.streams()).toBe(0)
})

test('behind a proxy that holds streams back, the page polls and says so', async () => {
  await using proxy = await bufferingProxy()
  await using scene = await openScene(browser, { origin: proxy.origin })
  proxy.to(scene.port)
  const page = await scene.open('/queues')
  await state(page).getByText('polling').waitFor({ timeout: 60_000 })
  await scene.q.enqueue('hello', { name: 'a' })
  await expect.poll(() => page.getByRole('link', { name: 'default' }).count()).toBe(1)
})

test('while the database is away for 20 s a banner says so and actions are off, then the page is live again', async () => {
  await using scene = await openScene(browser)
  await scene.replica('node-1')
  const page = await scene.open('/nodes')
  const drain = page.getByRole('button', { name: 'Drain…' })
  await drain.waitFor()
  await scene.proxy.cut()
  await page.getByRole('alert').getByText('No database since').waitFor()
  expect(await drain.isDisabled()).toBe(true)
  const health = await fetch(`${scene.origin}/healthz`)
  expect(health.status).toBe(200)
  await sleep(20_000)
  await scene.proxy.restore()
  await page.getByRole('alert').waitFor({ state: 'detached', timeout: 60_000 })
  await expect.poll(() => drain.isDisabled()).toBe(false)
  await state(page).getByText('live').waitFor()
  expect(scene.faults).toEqual([])
})

test('a topic that cannot be read is named as old, while the rest of the page stays live', async () => {
  await using scene = await openScene(browser)
  const { db, close } = connect(scene.databaseUrl, { purpose: 'pool' })
  const rename = (from: string, to: string) => db.schema.withSchema('q').alterTable(from).renameTo(to).execute()
  try {
    const page = await scene.open('/queues')
    await state(page).getByText('live').waitFor()
    await page.getByText('No queue yet').waitFor()
    await rename('queue_sample', 'gone')
    const banner = page.getByRole('alert')
    await banner.getByText(/^Old since [\d:]+: queues$/).waitFor()
    expect(await state(page).innerText()).toContain('live')
    expect(await page.locator('main.old').count()).toBe(0)
    await rename('gone', 'queue_sample')
    await banner.waitFor({ state: 'detached', timeout: 60_000 })
  } finally {
    await close()
  }
})
