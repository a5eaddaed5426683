/** Every page in both themes and on two screens: nothing that axe finds, nothing wider than the screen. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../browser/axe.ts'
import { launchBrowser } from '../browser/launch.ts'
import { openScene, type Scene } from '../browser/scene.ts'
import { addresses, seed, type Seeded } from '../browser/seed.ts'
import { visit } from '../browser/visit.ts'

let browser: Browser
let scene: Scene
let seeded: Seeded
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await openScene(browser)
  seeded = await seed(scene)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  await browser.close()
})

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

describe.each([1440, 390])('on a screen of %i px', (width) => {
  test.each(['light', 'dark'] as const)('no violation that axe finds, %s', async (colorScheme) => {
    const page = await scene.open('/', { viewport: { width, height: 900 }, colorScheme })
    for (const [path, heading] of addresses(seeded)) {
      await visit(page, path, heading)
      expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] })
    }
  })
})

test('no page is wider than a phone of 360 px', async () => {
  const page = await scene.open('/', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
  for (const [path, heading] of addresses(seeded)) {
    await visit(page, path, heading)
    expect({ path, wider: await overflow(page) }).toEqual({ path, wider: 0 })
  }
})

test('in forced colours every page is drawn, and with reduced motion nothing moves', async () => {
  const page = await scene.open('/', { forcedColors: 'active', reducedMotion: 'reduce' })
  for (const [path, heading] of addresses(seeded)) {
    await visit(page, path, heading)
    const moving = await page.evaluate(() =>
      document.getAnimations().filter(({ playState }) => playState === 'running'),
    )
    expect({ path, moving: moving.length }).toEqual({ path, moving: 0 })
  }
  expect(scene.faults).toEqual([])
})
