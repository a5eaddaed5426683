/** The filter of runs, and what is done to everything that matches it. No replica takes part. */
import { queue, type Queue } from '@q/client'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launchBrowser } from './launch.ts'
import { openScene, type Scene } from './scene.ts'
import * as tasks from './tasks.ts'

let browser: Browser
let scene: Scene
let q: Queue<typeof tasks>
let page: Page
beforeAll(async () => {
  if (!hasBrowser) return
  browser = await launchBrowser()
  scene = await openScene(browser)
  q = queue(scene.databaseUrl, { tasks })
  page = await scene.open('/')
})
afterAll(async () => {
  if (!hasBrowser) return
  await q.close()
  await scene[Symbol.asyncDispose]()
  await browser.close()
})

const go = (path: string) => page.goto(`${scene.origin}${path}`)

describe.skipIf(!hasBrowser)('the filter of runs and its operations', () => {
  test('the sentence of a bulk action has the exact number of runs, or says that it is a lower bound', async () => {
    const many = async (group: string, count: number) =>
      q.enqueueMany(Array.from({ length: count }, () => ['hello', {}, { group }] as const))
    await many('few', 1_204)
    for (let made = 0; made < 10_500; made += 500) await many('many', 500)
    for (const [group, shown, sentence] of [
      ['few', /^Cancel 1\s204 runs$/, /^Cancel 1\s204 runs$/],
      ['many', /^Cancel 10\s000\+ runs$/, /^Cancel at least 10\s000 runs$/],
    ] as const) {
      await go(`/runs?group=${group}`)
      await page.locator('tr.r').first().waitFor()
      await page.keyboard.press('a')
      await page.getByRole('button', { name: shown }).click()
      const confirm = page.getByRole('dialog').getByRole('button', { name: sentence })
      expect(await confirm.isDisabled()).toBe(true)
      await page.getByLabel(/^Type [\d\s]+ to confirm$/).fill(group === 'few' ? '1204' : '10000')
      expect(await confirm.isDisabled()).toBe(false)
      await page.keyboard.press('Escape')
    }
  })

  test('a time that cannot be read is refused where it is typed', async () => {
    await go('/runs?task=hello')
    const bar = page.getByRole('combobox', { name: 'Add a filter' })
    await bar.fill('since:1w')
    await bar.press('Enter')
    await page.getByRole('alert').getByText('“1w” is not a time.').waitFor()
    expect(new URL(page.url()).search).toBe('?task=hello')
    await bar.fill('ended-since:2h ago')
    expect(await page.getByRole('alert').count()).toBe(0)
    await bar.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('ended-since')).toBe('2h ago')
  })

  test('with a time in the address that cannot be read, no run is listed, counted or changed', async () => {
    await q.enqueue('hello', {}, { group: 'spared' })
    const asked: string[] = []
    const note = (request: Request) => void asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    await go('/runs?group=spared&since=1w')
    await page.getByRole('alert').getByText('No runs are listed: the filter has a mistake.').waitFor()
    await page.locator('.tok', { hasText: 'since' }).getByText('not a time').waitFor()
    await page.keyboard.press('a')
    await page.keyboard.press('c')
    expect(await page.locator('tr.r').count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Selection' }).count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    page.off('request', note)
    expect(asked.filter((path) => /^\/api\/(runs|operations)/.test(path))).toEqual([])
    await page.getByRole('button', { name: 'Remove since 1w' }).click()
    await expect.poll(() => page.locator('tr.r').count()).toBe(1)
  })
})
