/** What a person on call does with a thumb. No replica takes part. */
import { queue, workflow } from '@q/client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beatOfNode, registerNode } from './fake-node.ts'
import { hasBrowser, launchBrowser } from './launch.ts'
import { outside } from './outside.ts'
import { openScene, type Scene } from './scene.ts'
import * as tasks from './tasks.ts'

const width = 360

describe.skipIf(!hasBrowser)('on a phone', () => {
  let browser: Browser
  let scene: Scene
  let page: Page
  let workflowId: string
  beforeAll(async () => {
    browser = await launchBrowser()
    scene = await openScene(browser)
    const q = queue(scene.databaseUrl, { tasks })
    await q.enqueueMany(Array.from({ length: 3 }, () => ['hello', {}, { group: 'bulk' }] as const))
    const build = workflow<typeof tasks>()('build', ({ step }) => {
      for (let n = 0; n < 8; n++) step('hello', {}, { name: `step ${n}` })
    })
    workflowId = String((await q.start(build)).id)
    await q.close()
    page = await scene.open('/', { viewport: { width, height: 640 }, isMobile: true, hasTouch: true })
  })
  afterAll(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  test('rows and everything that matches can be selected and acted on, and no button is cut off', async () => {
    await page.goto(`${scene.origin}/runs?group=bulk`)
    await page
      .getByRole('checkbox', { name: /^Select run/ })
      .first()
      .tap()
    await page.getByText('1 selected').waitFor()
    expect(await outside(page, width)).toEqual([])
    await page.getByRole('button', { name: 'Clear' }).tap()
    await page.getByRole('button', { name: 'Select all that match' }).tap()
    await page.getByRole('button', { name: 'Cancel 3 runs' }).tap()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Cancel 3 runs?').waitFor()
    expect(await outside(page, width)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel 3 runs' }).tap()
    await page.getByRole('region', { name: 'Operation' }).waitFor()
    expect(await outside(page, width)).toEqual([])
  })

  test('the number of busy slots is not cut beside a strip of many', async () => {
    const node = { name: 'wide', slots: 32 }
    await registerNode(scene.store, node)
    await beatOfNode(scene.store, node, 50)
    await page.goto(`${scene.origin}/nodes`)
    const cell = page.locator('tr.r', { hasText: 'wide' }).locator('.c-slots')
    await cell.getByText('32/32').waitFor()
    expect(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true)
  })

  test('no control of the dialogs of a node and a run is cut off', async () => {
    await registerNode(scene.store, { name: 'eu-1' })
    await beatOfNode(scene.store, { name: 'eu-1' }, 50)
    const [run] = (await scene.store.listTaskRuns({}, { limit: 1 })).runs
    for (const [path, button] of [
      ['/nodes', 'Drain…'],
      [`/runs/${run!.id}`, 'Run again…'],
      ['/queues/default', 'Pause…'],
    ] as const) {
      await page.goto(`${scene.origin}${path}`)
      await page.getByRole('button', { name: button }).first().tap()
      await page.getByRole('dialog').waitFor()
      expect({ path, outside: await outside(page, width) }).toEqual({ path, outside: [] })
    }
  })

  test('a finger that moves up on a graph scrolls the page', async () => {
    await page.goto(`${scene.origin}/workflows/${workflowId}`)
    const graph = page.getByRole('group', { name: 'Steps as a graph' })
    await graph.getByText('step 0').waitFor()
    await page.evaluate(() => scrollTo(0, 0))
    const box = (await graph.boundingBox())!
    const session = await page.context().newCDPSession(page)
    const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', moved: number) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y: y - moved }] })
    await touch('touchStart', 0)
    for (let moved = 0; moved <= 150; moved += 10) await touch('touchMove', moved)
    await touch('touchEnd', 150)
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(50)
  })
})
