/** What axe finds on a page, as one line for each rule that a person would be hindered by. */
import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
let source: Promise<string> | undefined

/**
 * The page's Content-Security-Policy refuses script tags, so the script is evaluated through the browser's own protocol.
 * `contrast: false` leaves out the dearest rule; contrast.test.ts computes every pair of colours.
 */
export async function violations(page: Page, { contrast = true } = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) {
    source ??= readFile(script, 'utf8')
    await page.evaluate(await source)
  }
  const { violations: found } = await page.evaluate(async (enabled) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<AxeResults> } }
    return axe.run({ resultTypes: ['violations'], rules: { 'color-contrast': { enabled } } })
  }, contrast)
  return found.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
}
