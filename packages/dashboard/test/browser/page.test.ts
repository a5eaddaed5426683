/**
 * The page in a real browser against a real server, database and replica, which all tests of the file share. The longer rest is
 * `pnpm test:page`.
 */
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from './axe.ts'
import { hasBrowser, launchBrowser } from './launch.ts'
import { openScene, type Scene } from './scene.ts'
import { addresses, seed, type Seeded } from './seed.ts'
import { visit } from './visit.ts'

describe.skipIf(!hasBrowser)('the page in a browser', () => {
  let browser: Browser
  let scene: Scene
  let seeded: Seeded
  let page: Page
  beforeAll(async () => {
    browser = await launchBrowser()
    scene = await openScene(browser)
    seeded = await seed(scene)
    page = await scene.open('/')
    page.setDefaultTimeout(60_000)
  })
  afterAll(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })
  const go = (path: string) => page.goto(`${scene.origin}${path}`)
  const badge = (text: string) => page.locator('.badge.big', { hasText: text })

  test('the scripts that a page begins with are at most 150 kB, as they are sent', async () => {
    const html = await (await fetch(scene.origin)).text()
    const paths = [...html.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path = '']) => path)
    const sizes = paths.map(async (path) => {
      const { body } = await fetch(scene.origin + path)
      return gzipSync(Buffer.from(await new Response(body).arrayBuffer())).length
    })
    expect(paths.length).toBeGreaterThan(1)
    expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000)
  })

  test('every page has its heading and no violation that axe finds', async () => {
    for (const [path, heading] of addresses(seeded)) {
      await visit(page, path, heading)
      expect({ path, violations: await violations(page, { contrast: false }) }).toEqual({ path, violations: [] })
    }
    expect(scene.faults).toEqual([])
  })

  test('the progress, the log and the end of a run appear without a reload', async () => {
    const gate = scene.gate()
    const { id } = await scene.q.enqueue('resume', { until: gate.until })
    await go(`/runs/${id}`)
    await badge('RUNNING').waitFor()
    await page.getByText('25 %').first().waitFor()
    await page.getByText('first part done').waitFor()
    gate.release()
    await badge('SUCCEEDED').waitFor()
    await page.getByText('it may end').waitFor()
    expect(scene.faults).toEqual([])
  })

  test('a run that computes without a pause is cancelled after a confirmation, and retried', async () => {
    const gate = scene.gate()
    const { id } = await scene.q.enqueue('spin', { until: gate.until })
    await go(`/runs/${id}`)
    await badge('RUNNING').waitFor()
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByRole('button', { name: 'Cancel this run' }).click()
    await badge('CANCELLED').waitFor()
    gate.release()
    await page.getByRole('button', { name: 'Retry…' }).click()
    await page.getByRole('button', { name: 'Retry this run' }).click()
    await badge('SUCCEEDED').waitFor()
    expect((await scene.q.get(id))?.status).toBe('SUCCEEDED')
  })

  test('a filter is part of the address, and the back button removes it', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => scene.q.enqueue('fail', { message: 'bulk' }, { group: 'bulk' })))
    await Promise.allSettled(runs.map((run) => run.result()))
    await go('/runs')
    await page.locator('tr.r').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('group:bulk')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toContain('group=bulk')
    await expect.poll(() => page.locator('tr.r').count()).toBe(3)
    await page.goBack()
    await expect.poll(() => page.url()).not.toContain('group=bulk')
    await expect.poll(() => page.locator('tr.r').count()).toBeGreaterThan(3)
    await page.goForward()
    await expect.poll(() => page.locator('tr.r').count()).toBe(3)
  })

  test('an unknown view in the address is named as a mistake, and no runs are shown in its place', async () => {
    await go('/runs?view=nonsense')
    await page.getByRole('alert').getByText('There is no view “nonsense”.').waitFor()
    expect(await page.locator('tr.r').count()).toBe(0)
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.locator('tr.r').first().waitFor()
  })

  test('the list of failures, which is in the order of their ends, says when each ended', async () => {
    await go('/runs?view=failed')
    await page.getByRole('columnheader', { name: 'Ended' }).waitFor()
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.getByRole('columnheader', { name: 'Enqueued' }).waitFor()
    expect(scene.faults).toEqual([])
  })

  test('an address that is no page says so and leads back', async () => {
    await visit(page, '/no-such-page', 'No such page')
    expect(await violations(page, { contrast: false })).toEqual([])
    await page.getByRole('main').getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })

  test('everything that matches a filter is retried by one operation after a confirmation', async () => {
    const runs = [1, 2, 3].map(() => scene.q.enqueue('fail', { message: 'matching' }, { group: 'matching' }))
    await Promise.allSettled((await Promise.all(runs)).map((run) => run.result()))
    await go('/runs?group=matching')
    await page.locator('tr.r').first().waitFor()
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Retry 3 runs' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 3 runs' }).click()
    await page.getByText('retried 3 runs').waitFor()
    await page.getByRole('region', { name: 'Operation' }).getByText('done').waitFor()
    const progress = page.getByRole('progressbar', { name: 'Progress of the operation' })
    expect(await progress.getAttribute('aria-valuenow')).toBe('100')
    expect(page.url()).toMatch(/operation=\d+/)
    expect(new URL(page.url()).searchParams.get('of')).toBe('3')
  })

  test('the keys open pages, help and palette, and the theme stays after a reload', async () => {
    await go('/')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(seeded.failedId)
    await page.keyboard.press('Enter')
    await badge('FAILED').waitFor()
    await page.keyboard.press('T')
    await page.reload()
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await page.keyboard.press('T')
  })

  test('no violation that axe finds in the palette, the help and the dialogs', async () => {
    const { id } = await scene.q.enqueue('hello', {}, { delay: '1h' })
    const clean = async (path: string, open: () => Promise<void>, name: string | RegExp) => {
      await go(path)
      await page.locator('.app h1').waitFor()
      await open()
      await page.getByRole('dialog', { name }).waitFor()
      expect({ name, violations: await violations(page, { contrast: false }) }).toEqual({ name, violations: [] })
      await page.keyboard.press('Escape')
    }
    const click = (name: string) => () => page.getByRole('button', { name }).first().click()
    await clean('/', () => page.keyboard.press('Control+k'), 'Find')
    await clean('/', () => page.keyboard.press('?'), 'Keys')
    await clean('/nodes', click('Drain…'), 'Drain node-1?')
    await clean(`/runs/${id}`, click('Cancel…'), `Cancel run ${id}?`)
    await clean(`/runs/${seeded.failedId}`, click('Run again…'), 'Run fail again?')
    await clean('/queues/default', click('Pause…'), /^Pause/)
    await clean('/schedules/nightly', click('Run now…'), /^Run/)
  })

  test('a destination is tested and paused, and a report that was delivered is sent again', async () => {
    await go('/deliveries')
    const destinations = page.getByRole('table', { name: 'Destinations' })
    await destinations.getByText('sending').waitFor()
    await destinations.getByRole('button', { name: 'Test' }).click()
    await page.getByText('dev accepted a test report.').waitFor()
    await page.getByRole('button', { name: 'Redeliver' }).first().click()
    await page.getByText('is sent again.').waitFor()
    await destinations.getByRole('button', { name: 'Pause' }).click()
    await destinations.getByText('paused').waitFor()
    expect((await scene.store.listDestinations())[0]?.pausedAt).toBeInstanceOf(Date)
    await destinations.getByRole('button', { name: 'Resume' }).click()
    await destinations.getByText('sending').waitFor()
  })

  test('a node that is ordered to drain shows its badge and who asked until it has left', async () => {
    const gate = scene.gate()
    const leaving = await scene.replica('node-2', { Q_QUEUES: 'second' })
    const run = await scene.q.enqueue('elsewhere', { until: gate.until })
    await expect.poll(async () => (await scene.store.heldTaskRuns(leaving.id)).length).toBe(1)
    await go('/nodes')
    const row = page.locator('tr.r', { has: page.getByRole('link', { name: 'node-2', exact: true }) })
    await row.getByRole('button', { name: 'Drain…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drain node-2' }).click()
    await row.getByText('draining, 1 left').waitFor()
    await page.getByText('Asked by owner').waitFor()
    gate.release()
    await row.getByText('stopped').waitFor()
    await leaving.exited
    await run.result()
  })

  test('while the database is unreachable a banner shows since when, and the page recovers without a reload', async () => {
    await go('/nodes')
    await page.getByText('node-1').first().waitFor()
    await scene.proxy.cut()
    await page.getByRole('alert').getByText('No database since').waitFor()
    expect(await page.locator('main.old').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Drain…' }).first().isDisabled()).toBe(true)
    await scene.proxy.restore()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.locator('main.old').waitFor({ state: 'detached' })
  })

  test('a wrong token is refused, a right one opens the page, and signing out closes it', async () => {
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('This token was not accepted.').waitFor()
    await page.getByLabel('Token').fill(scene.token)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.app').waitFor()
    expect(await page.getByLabel('Token').count()).toBe(0)
  })
})
