/** Every command that the page shows is one that a shell and `q` itself read: it gets as far as the database. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workflow } from '@q/client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../browser/launch.ts'
import { openScene, type Scene } from '../browser/scene.ts'
import { addresses, seed } from '../browser/seed.ts'
import type * as tasks from '../browser/tasks.ts'
import { visit } from '../browser/visit.ts'

const program = fileURLToPath(new URL('../../../cli/bin/q.js', import.meta.url))
/** The exit code of `q` when no database answers; 2 would be a mistake in the command. */
const databaseUnreachable = 3

let browser: Browser
let scene: Scene
let folder: string
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await openScene(browser)
  folder = mkdtempSync(join(tmpdir(), 'q-commands-'))
  writeFileSync(join(folder, 'q'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  chmodSync(join(folder, 'q'), 0o755)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  await browser.close()
  rmSync(folder, { recursive: true })
})

async function commandsOn(page: Page): Promise<string[]> {
  const lines = await page.locator('.cli').evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''))
  return lines.filter((line) => line !== '')
}

/** Runs it as a person would who pastes it. */
function exitCodeOf(command: string): Promise<number | string> {
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    DATABASE_URL: 'postgres://user@127.0.0.1:1/none',
  }
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', command], { env, timeout: 60_000 }, (error, _, stderr) =>
      resolve(
        error === null ? 0 : error.code === databaseUnreachable ? databaseUnreachable : `${error.code}: ${stderr}`,
      ),
    )
    child.stdin?.end()
  })
}

test('each command beside a button is read by a shell and by q', async () => {
  const seeded = await seed(scene)
  const page = await scene.open('/')
  const found = new Set<string>()
  const collect = async () => {
    for (const line of await commandsOn(page)) found.add(line)
  }
  const { id } = await scene.q.enqueue('hello', {}, { delay: '1h' })
  const build = workflow<typeof tasks>()('open', ({ step }) => step('elsewhere', { until: 'never' }))
  const open = await scene.q.start(build)
  const { items } = await scene.store.listErrorGroups()
  const more = [
    [`/runs/${id}`, 'hello'],
    [`/workflows/${open.id}`, 'open'],
    ...items.map(({ fingerprint, code }) => [`/errors/${fingerprint}`, code] as const),
  ] as const
  for (const [path, heading] of [...addresses(seeded), ...more]) {
    await visit(page, path, heading)
    await collect()
    // Each button that asks first has another command in its dialog.
    const asking = page.locator('main button:enabled', { hasText: /…$/ })
    for (let index = 0; index < (await asking.count()); index++) {
      await asking.nth(index).click()
      await page.getByRole('dialog').waitFor()
      await collect()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  }
  for (const filter of ['', '?since=2h ago&before=now', '?ended-since=1.5h&ended-before=0min']) {
    await page.goto(`${scene.origin}/runs${filter}`)
    await page.locator('tr.r').first().waitFor()
    await page.keyboard.press('a')
    await page.getByRole('region', { name: 'Selection' }).waitFor()
    await collect()
  }
  await page.goto(`${scene.origin}/enqueue?task=hello`)
  await page.getByLabel('Group').fill(`it's a "group"`)
  await page.getByLabel('Priority').fill('-5')
  await page.getByLabel('Delay').fill('1.5')
  await collect()
  expect(found.size).toBeGreaterThan(18)
  const wrong: Record<string, number | string> = {}
  for (const command of found) {
    const code = await exitCodeOf(command)
    if (code !== databaseUnreachable) wrong[command] = code
  }
  expect(wrong).toEqual({})
})
