/** One scene for the tests of a file: no replicas, a queue on its database, and a signed-in page. */
import { queue, type Queue } from '@q/client'
import type { Page } from 'playwright-core'
import { afterAll } from 'vitest'
import { hasBrowser, launchBrowser } from './launch.ts'
import { openScene, type Scene } from './scene.ts'
import * as tasks from './tasks.ts'

export interface PageScene {
  readonly scene: Scene
  readonly q: Queue<typeof tasks>
  readonly page: Page
  go(path: string): Promise<unknown>
}

export async function pageScene(): Promise<PageScene> {
  // Every test that needs a browser is skipped.
  if (!hasBrowser) return {} as PageScene
  const browser = await launchBrowser()
  const scene = await openScene(browser)
  const q = queue(scene.databaseUrl, { tasks })
  const page = await scene.open('/')
  afterAll(async () => {
    await q.close()
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })
  return { scene, q, page, go: (path) => page.goto(`${scene.origin}${path}`) }
}
