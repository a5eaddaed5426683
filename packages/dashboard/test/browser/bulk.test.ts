/** The filter of runs, and what is done to everything that matches it. No replica takes part. */
import type { Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasBrowser } from './launch.ts'
import { pageScene } from './page-scene.ts'

const { scene, q, page, go } = await pageScene()

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

  test('the dialog asks about as many runs as the operation changes, even when hidden values match', async () => {
    const payloads = [{ name: 'a horse' }, { name: 'hidden', apiToken: 'horse' }, { name: 'a cow' }]
    const runs = await q.enqueueMany(payloads.map((payload) => ['hello', payload, { group: 'stable' }] as const))
    await go('/runs?group=stable&payload=~horse')
    await expect.poll(() => page.locator('tr.r').count()).toBe(1)
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel 2 runs?' })
    await dialog.getByText('Runs whose hidden values match count too').waitFor()
    await dialog.getByRole('button', { name: 'Cancel 2 runs' }).click()
    await page.getByRole('region', { name: 'Operation' }).waitFor()
    expect(new URL(page.url()).searchParams.get('of')).toBe('2')
    while ((await scene.store.stepOperations({ holder: 'test', forMs: 1_000 })).worked?.state !== 'done');
    await page.getByText('cancelled 2 runs').waitFor()
    const left = await Promise.all(runs.map(async ({ id }) => (await q.get(id))?.status))
    expect(left).toEqual(['CANCELLED', 'CANCELLED', 'AVAILABLE'])
  })

  test('runs are retried by a filter whose state is written as the page shows it', async () => {
    const { id } = await q.enqueue('hello', {}, { group: 'capital' })
    await q.cancel(id)
    await go('/runs?group=capital')
    const field = page.getByRole('combobox', { name: 'Add a filter' })
    await field.fill('status:CANCELLED')
    await field.press('Enter')
    await page.locator('.tok', { hasText: 'status' }).waitFor()
    await field.blur()
    await page.locator('tr.r').first().waitFor()
    await page.keyboard.press('a')
    const retry = page.getByRole('button', { name: 'Retry 1 run', exact: true })
    await expect.poll(() => retry.count()).toBe(1)
  })

  test('a filter with a typo is refused with what could be written', async () => {
    await go('/runs')
    const field = page.getByRole('combobox', { name: 'Add a filter' })
    for (const [typed, answer] of [
      ['status:faild', '“faild” is not a state.'],
      ['taks:resize', '“taks:resize” is not a filter.'],
    ] as const) {
      await field.fill(typed)
      await field.press('Enter')
      await page.getByRole('alert').getByText(answer).waitFor()
    }
    await field.fill('stat')
    await field.press('Enter')
    expect(await field.inputValue()).toBe('status ')
  })

  test('the runs are counted once when all are selected, and again when the question is asked', async () => {
    await q.enqueue('hello', {}, { group: 'counted' })
    const counts = async () =>
      (await scene.store.listActions()).items.filter(({ answer }) => answer === 'counted').length
    await go('/runs?group=counted')
    await page.locator('tr.r').first().waitFor()
    const before = await counts()
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Cancel 1 run', exact: true }).waitFor()
    await q.enqueue('hello', {}, { group: 'counted' })
    await page.getByRole('button', { name: 'Cancel 1 run', exact: true }).click()
    await page.getByRole('dialog', { name: 'Cancel 2 runs?' }).waitFor()
    expect((await counts()) - before).toBe(3)
    await page.keyboard.press('Escape')
  })

  test('runs that cannot be counted are not changed, and the page says why', async () => {
    await q.enqueue('hello', {}, { group: 'uncounted' })
    const problem = { status: 504, code: 'STATEMENT_TIMEOUT', title: 'The statement took too long.' }
    await page.route('**/api/operations', (route) => route.fulfill({ status: 504, json: problem }))
    await go('/runs?group=uncounted&status=available')
    await page.locator('tr.r').first().waitFor()
    await page.keyboard.press('a')
    const selection = page.getByRole('region', { name: 'Selection' })
    await selection.getByText('They could not be counted: The statement took too long.').waitFor()
    expect(await selection.getByRole('button', { name: /^Cancel/ }).count()).toBe(0)
    await page.unroute('**/api/operations')
    await selection.getByRole('button', { name: 'Count again' }).click()
    await selection.getByRole('button', { name: 'Cancel 1 run', exact: true }).waitFor()
  })

  test('an operation that reaches runs older than the counted ones can be started, and its button shows no number', async () => {
    await q.enqueue('hello', {}, { group: 'older' })
    const match = { count: 0, atLeast: true }
    const preview = { dryRun: true, match, samples: [], exhausted: false, lookedBackTo: '2026-11-01T00:00:00.000Z' }
    await page.route('**/api/operations', (route) => route.fulfill({ status: 202, json: preview }))
    await go('/runs?group=older&status=available')
    await page.locator('tr.r').first().waitFor()
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Cancel all that match' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel all that match?' })
    await dialog.getByText('Not all runs were read').waitFor()
    expect(await dialog.getByRole('button', { name: 'Cancel all that match' }).isDisabled()).toBe(false)
    await page.unroute('**/api/operations')
    await page.keyboard.press('Escape')
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
    await page.goto('about:blank') // a page before this one may still ask
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
