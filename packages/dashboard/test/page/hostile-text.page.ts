/** Text of users and machines is text: no page runs it, whatever it looks like. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../browser/launch.ts'
import { openScene, type Scene } from '../browser/scene.ts'
import { hostile, seedHostile } from './hostile-seed.ts'

let browser: Browser
let scene: Scene
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await openScene(browser)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  await browser.close()
})

test('markup in any of fifteen fields is drawn as text on every page', async () => {
  const { failedId, runningId, workflowId } = await seedHostile(scene)
  const page = await scene.open('/')
  const name = encodeURIComponent
  const paths = [
    '/',
    '/runs',
    `/runs?queue=${name(hostile.queue)}`,
    `/runs/${failedId}`,
    `/runs/${runningId}`,
    '/nodes',
    '/nodes/hostile',
    '/queues',
    `/queues/${name(hostile.queue)}`,
    '/workflows',
    `/workflows/${workflowId}`,
    '/schedules',
    `/schedules/${name(hostile.schedule)}`,
    '/errors',
    '/heartbeats',
    '/audit',
    '/recoveries',
    '/operations',
    '/deliveries',
    `/enqueue?task=${name(hostile.task)}`,
  ]
  let drawn = ''
  for (const path of paths) {
    await page.goto(`${scene.origin}${path}`)
    await page.locator('main h1').waitFor()
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
    const found = await page.evaluate(() => ({
      text: document.body.innerText,
      images: document.images.length,
      links: [...document.links].map(({ protocol }) => protocol).filter((protocol) => !/^https?:$/.test(protocol)),
      hasRun: 'ran' in window,
    }))
    drawn += found.text
    expect({ path, ...found, text: '' }).toEqual({ path, text: '', images: 0, links: [], hasRun: false })
  }
  const missing = Object.entries(hostile).filter(([, text]) => !drawn.includes(text))
  expect(missing).toEqual([])
  expect(scene.faults).toEqual([])
})
