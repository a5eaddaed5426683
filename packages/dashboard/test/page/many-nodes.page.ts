/** A fleet of 200 nodes with 64 threads each: what the page does for a heartbeat or for a second does not grow with the fleet. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { beatOfNode, registerNode } from '../browser/fake-node.ts'
import { launchBrowser } from '../browser/launch.ts'
import { openScene, type Scene } from '../browser/scene.ts'

const [nodes, threads] = [200, 64]
const nameOf = (n: number) => `eu-${n}`

let browser: Browser
let scene: Scene
let page: Page
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await openScene(browser)
  for (let n = 1; n <= nodes; n++) {
    await register(n, { beatMs: 10_000, staleMs: 3_600_000 })
    await beat(n, 1)
  }
  page = await scene.open('/nodes')
  await row(nodes).waitFor({ state: 'attached' })
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  await browser.close()
})

const row = (n: number) => page.locator('tr.r', { has: page.getByRole('link', { name: nameOf(n), exact: true }) })

const register = (n: number, times: { beatMs: number; staleMs: number }) =>
  registerNode(scene.store, { name: nameOf(n), slots: threads, ...times })
const beat = (n: number, cpuPercent: number) => beatOfNode(scene.store, { name: nameOf(n), slots: threads }, cpuPercent)

/** The names of the nodes whose rows change until `done` has happened. */
async function rowsChangedUntil(done: () => Promise<void>): Promise<readonly string[]> {
  await page.evaluate(() => {
    const changed = new Set<string>()
    const observer = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement
        const name = element?.closest('tr.r')?.querySelector('b')?.textContent
        if (name) changed.add(name)
      }
    })
    observer.observe(document.querySelector('main')!, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    })
    Object.assign(globalThis, { changed, observer })
  })
  await done()
  return page.evaluate(() => {
    const { changed, observer } = globalThis as unknown as { changed: Set<string>; observer: MutationObserver }
    observer.disconnect()
    return [...changed]
  })
}

test('the ages of nodes out of sight stand still', async () => {
  const age = row(1).locator('.c-beat')
  const tick = async () => {
    const before = await age.textContent()
    await expect.poll(() => age.textContent()).not.toBe(before)
  }
  // The first live answer replaces the one that the page was opened with, and with it every row, once.
  await expect.poll(async () => (await rowsChangedUntil(tick)).length).toBeLessThan(nodes / 2)
  const changed = await rowsChangedUntil(async () => {
    for (let ticks = 0; ticks < 3; ticks++) await tick()
  })
  expect(changed).toContain(nameOf(1))
  expect(changed.length).toBeLessThan(nodes / 2)
  expect(changed).not.toContain(nameOf(nodes))
})

test('a heartbeat of a node out of sight changes its row, and the row is up to date when it comes into sight', async () => {
  const changed = await rowsChangedUntil(async () => {
    await beat(nodes, 77)
    await expect.poll(() => row(nodes).textContent()).toMatch(/77\s%/)
  })
  expect(changed).toContain(nameOf(nodes))
  expect(changed.length).toBeLessThan(nodes / 2)
  const age = row(nodes).locator('.c-beat')
  await row(nodes).scrollIntoViewIfNeeded()
  const before = await age.textContent()
  await expect.poll(() => age.textContent()).not.toBe(before)
})

test('a fleet that is lost as a whole is one list of closed rows', async () => {
  for (let n = 1; n <= nodes; n++) await register(n, { beatMs: 300, staleMs: 1_000 })
  await row(1).getByText('lost', { exact: true }).waitFor()
  await expect.poll(() => page.locator('tr.r', { hasText: 'lost' }).count()).toBe(nodes)
  expect(await page.locator('tr.sub').count()).toBe(0)
})
