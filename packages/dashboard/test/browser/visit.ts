/** Opens an address of the page as a link does, without a reload, and waits until its data is drawn. */
import type { Page } from 'playwright-core'

export async function visit(page: Page, path: string, heading: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, '', to), path)
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
}
