/** What a person does to recoveries, workflows and runs on the page, and what the page answers. No replica takes part. */
import { workflow } from '@q/client'
import type { RunId } from '@q/store'
import { describe, expect, test } from 'vitest'
import { beatOfNode, registerNode } from './fake-node.ts'
import { hasBrowser } from './launch.ts'
import { pageScene } from './page-scene.ts'
import type * as tasks from './tasks.ts'

const { scene, q, page, go } = await pageScene()
const row = (id: string) => page.locator('tr.r', { has: page.getByRole('link', { name: id, exact: true }) })
const message = () => page.locator('.toast')

/** A run that a replica held which was never alive. */
async function heldRun({ starts }: { readonly starts: boolean }): Promise<RunId> {
  const { id } = await q.enqueue('hello', {}, { priority: -1 })
  const [claimed] = await scene.store.claimAvailableTaskRuns({
    replicaId: 'ghost',
    tasks: ['hello'],
    queues: [],
    limit: 1,
    prefetch: !starts,
  })
  if (claimed?.runId !== id) throw new Error('Another run was claimed.')
  return claimed.runId
}

describe.skipIf(!hasBrowser)('actions on the page', () => {
  test('any recovery can be reviewed, and the page says who reviewed it', async () => {
    const [requeued, failed] = [await heldRun({ starts: false }), await heldRun({ starts: true })]
    await scene.store.reap({ by: 'other' })
    await go('/recoveries')
    await row(failed).getByText('to review').waitFor()
    for (const [id, button] of [
      [requeued, /^Mark 1\s+recovery reviewed$/],
      [failed, /^Accept 1\s+failure$/],
    ] as const) {
      await page.getByRole('checkbox', { name: `Select the recovery of run ${id}` }).check()
      await page.getByText(/^1\s+recovery selected$/).waitFor()
      await page.getByRole('button', { name: button }).click()
      await row(id).getByText('by owner').waitFor()
    }
    expect((await scene.store.listRecoveries()).items.map(({ reviewedBy }) => reviewedBy)).toEqual(['owner', 'owner'])
    expect(await page.getByRole('checkbox').count()).toBe(0)
  })

  test('every tab of the workflows lists the workflows in its states', async () => {
    const started = async (name: string) => {
      const { id } = await q.start(workflow<typeof tasks>()(name, ({ step }) => step('hello', {})))
      return String(id) as Parameters<typeof scene.store.pauseWorkflow>[0]
    }
    await started('goes on')
    await scene.store.pauseWorkflow(await started('is paused'), 'ada')
    await scene.store.cancelWorkflow(await started('was cancelled'))
    const listed = () => page.locator('tr.r b').allInnerTexts()
    await go('/workflows')
    await expect.poll(listed).toEqual(['was cancelled', 'is paused', 'goes on'])
    await page.getByRole('link', { name: 'Open' }).click()
    await expect.poll(listed).toEqual(['is paused', 'goes on'])
    await page.getByRole('link', { name: 'Failed' }).click()
    await page.getByText('No workflow is in this state').waitFor()
  })

  test('Enter in a dialog is for its action, or for the button that closes it if the action cannot be undone', async () => {
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    const { id } = await q.enqueue('hello', {})
    await go(`/runs/${id}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await expect.poll(focused).toContain('Close')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await q.get(id))?.status).toBe('AVAILABLE')

    const node = { name: 'to-drain' }
    await registerNode(scene.store, node)
    await beatOfNode(scene.store, node, 10)
    await go('/nodes/to-drain')
    await page.getByRole('button', { name: 'Drain…' }).click()
    await expect.poll(focused).toContain('Drain to-drain')
    await page.getByRole('radio', { name: '10 min' }).check()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const drained = await scene.store.nodeDetail('to-drain')
    expect(drained?.node.drain?.by).toBe('owner')
  })

  test('a refused action says what happened, why and what to do, also over the dialog it was asked in', async () => {
    const first = await q.enqueue('only', {})
    await scene.store.cancelTaskRuns([first.id])
    await q.enqueue('only', {})
    await go(`/runs/${first.id}`)
    await page.getByRole('button', { name: 'Run again…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Run again', exact: true }).click()
    await dialog.locator('.toast').getByText('has its unique key').waitFor()
    await dialog.locator('.toast').getByRole('button', { name: 'Close this message' }).click()
    await dialog.getByRole('button', { name: 'Close esc' }).click()
    await page.getByRole('button', { name: 'Retry…' }).click()
    await page.getByRole('button', { name: 'Retry this run' }).click()
    await message().getByText(`Run ${first.id} was not retried.`).waitFor()
    await message().getByText('Another live run of the task has its unique key.').waitFor()
    await message().getByText('Look at its present state, then decide again.').waitFor()
    expect(await scene.store.getTaskRun(first.id)).toMatchObject({ run: { status: 'CANCELLED' } })
  })

  test('Enter on a focused link or button is for that one, and for the row after the cursor moved', async () => {
    await registerNode(scene.store, { name: 'eu-1' })
    await beatOfNode(scene.store, { name: 'eu-1' }, 50)
    await go('/nodes')
    await row('eu-1').getByText('alive').waitFor()
    const twist = page.getByRole('button', { name: /^(Open|Close) eu-1$/ })
    await page.keyboard.press('j')
    await row('eu-1').getByRole('button', { name: 'Drain…' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Drain eu-1?' }).waitFor()
    expect(await twist.getAttribute('aria-expanded')).toBe('false')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await expect.poll(() => twist.getAttribute('aria-expanded')).toBe('true')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('a run is enqueued from the form of its schema, whose fields have what the server refuses', async () => {
    const target = { type: 'object', required: ['bucket'], properties: { bucket: { type: 'string', minLength: 3 } } }
    const payloadSchema = {
      type: 'object',
      required: ['target', 'size'],
      properties: { target, size: { enum: [1, 'large'] }, account: { type: 'integer' } },
    }
    await registerNode(scene.store, { name: 'eu-2' })
    await scene.store.publishTasks('eu-2', [{ name: 'resize', queue: 'default', options: {}, payloadSchema }])
    await go('/enqueue?task=resize')
    const enqueue = page.getByRole('button', { name: 'Enqueue resize' })
    const bucket = page.getByRole('group', { name: 'target' }).getByLabel('bucket')
    await bucket.fill('b')
    await page.getByLabel('account').fill('9007199254740993')
    await page.getByLabel('Delay').fill('soon')
    await enqueue.click()
    for (const [label, words] of [
      ['size', 'It is required.'],
      ['account', 'has more digits'],
      ['Delay', 'It is not a number of seconds'],
    ] as const)
      await page
        .locator('.field', { has: page.getByLabel(label) })
        .getByText(words)
        .waitFor()
    await page.getByLabel('size').selectOption('large')
    await page.getByLabel('account').fill('9007199254740991')
    await page.getByLabel('Delay').fill('60')
    await page.getByLabel('Group').fill('tenant 1')
    await enqueue.click()
    await page
      .locator('.field', { has: page.getByLabel('bucket') })
      .getByText('must NOT have fewer than 3 characters')
      .waitFor()
    await bucket.fill('bucket')
    expect(await page.locator('.toolbar .cli').innerText()).toBe(
      `q enqueue resize '{ "size": "large", "target": { "bucket": "bucket" }, "account": 9007199254740991 }' --group 'tenant 1' --delay 60000ms`,
    )
    await enqueue.click()
    await page.getByRole('heading', { level: 1, name: 'resize' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) as RunId
    const detail = await scene.store.getTaskRun(id)
    expect(detail?.run).toMatchObject({
      payload: { target: { bucket: 'bucket' }, size: 'large', account: 9007199254740991 },
      group: 'tenant 1',
      waitingFor: 'time',
    })
  })

  test('the outlook of a queue that no node serves says so', async () => {
    await q.enqueue('elsewhere', { until: 'never' })
    await go('/queues/second')
    await page.locator('dl.facts').getByText('no live node knows elsewhere').waitFor()
    expect(await page.locator('.head').getByText('not served').count()).toBe(1)
  })

  test('the charts of a queue show the time that is chosen, and the address has it', async () => {
    await q.enqueue('elsewhere', { until: 'never' })
    await go('/queues/second')
    const chosen = page.getByRole('radio', { name: '24 h' })
    await chosen.waitFor({ state: 'attached' })
    const asked = page.waitForResponse((response) => {
      const { pathname, searchParams } = new URL(response.url())
      const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? '')) as [number, number]
      return pathname === '/api/series' && searchParams.get('metric') === 'wait' && to - from === 86_400_000
    })
    await chosen.check({ force: true })
    expect((await asked).status()).toBe(200)
    expect(new URL(page.url()).search).toBe('?last=24h')
    await page.reload()
    await expect.poll(() => chosen.isChecked()).toBe(true)
  })

  test('a list that did not read all rows says so, and a refused next page says why', async () => {
    await page.route('**/api/workflows?*', (route) =>
      route.request().url().includes('cursor=') ? route.continue() : route.fulfill({ json: { items: [], next: 'x' } }),
    )
    await go('/workflows?status=FAILED')
    await page.getByText('Not looked far enough').waitFor()
    expect(await page.getByText('No workflow is in this state').count()).toBe(0)
    await page.getByRole('button', { name: 'Look further back' }).click()
    await page
      .getByRole('alert')
      .getByText(/^CURSOR_|^PARAMETER_/)
      .waitFor()
    await page.unrouteAll()
  })
})
