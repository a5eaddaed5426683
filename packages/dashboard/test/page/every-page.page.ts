/** Every page in both themes and on two screens: nothing that axe finds, nothing wider than the screen. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../browser/axe.ts'
import { launchBrowser } from '../browser/launch.ts'
import { openScene, type Scene } from '../browser/scene.ts'
import { outside } from '../browser/outside.ts'
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

describe.each([1440, 390])('on a screen of %i px', (width) => {
  test.each(['light', 'dark'] as const)('no violation that axe finds, %s', async (colorScheme) => {
    const page = await scene.open('/', { viewport: { width, height: 900 }, colorScheme })
    for (const [path, heading] of addresses(seeded)) {
      await visit(page, path, heading)
      expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] })
    }
  })
})

test('on a phone of 360 px nothing is wider than the screen, and no control is cut off', async () => {
  const page = await scene.open('/', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
  for (const [path, heading] of addresses(seeded)) {
    await visit(page, path, heading)
    expect({ path, outside: await outside(page, 360) }).toEqual({ path, outside: [] })
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
