/**
 * `pnpm pictures`: photographs the page for README and documents, in both themes, with a real fleet on a database of its own. It takes
 * about four minutes, most of them for things to happen; the hour before is made up (history.ts).
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { findDatabase } from '@q/runner/database'
import { addNamedToken, startServer } from '@q/server'
import { connect, createStore, migrateDatabase } from '@q/store'
import { scriptOptions } from '../../schema/src/script-options.ts'
import { buildPage } from '../build.ts'
import { launchBrowser } from '../test/browser/launch.ts'
import { startFleet } from './fleet.ts'
import { writeHistory } from './history.ts'

scriptOptions('pictures', {})

const target = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url))
const settleMs = 2_000
const quality = 0.85

/** Where the user of the embedded PostgreSQL may go. */
const folder = fileURLToPath(new URL('../../../.q/pictures/', import.meta.url))
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const database = await findDatabase({ ...process.env, Q_DATA_DIR: join(folder, 'postgres') }, { notice: console.error })
await migrateDatabase(database.url)
const { db, close } = connect(database.url, { purpose: 'pool' })
const store = createStore(db)
await using fleet = await startFleet(database.url, store)
await writeHistory(db)
await buildPage({ outDir: join(folder, 'page') })
const tokensFile = join(folder, 'tokens')
const token = addNamedToken(tokensFile, { name: 'oncall', scope: 'admin' })
const server = await startServer({
  databaseUrl: database.url,
  settings: { readOnly: false, badge: { text: 'production', color: '#b3261e' }, port: 0, tokensFile },
  tokenFile: undefined,
  version: '0.4.1',
  page: { folder: join(folder, 'page') },
})
const browser = await launchBrowser()
try {
  console.log('Waiting until enough has happened.')
  await sleep(100_000)
  await store.drainReplica(fleet.draining.id, { by: 'ci', deadlineMs: 300_000 })
  await mkdir(target, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const wide = await browser.newContext({
      viewport: { width: 1280, height: 860 },
      colorScheme,
      reducedMotion: 'reduce',
    })
    const page = await wide.newPage()
    await page.goto(`${server.url}/#token=${token}`)
    // Signed in: leaving the page earlier would end the request that opens the session.
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.setViewportSize({ width: 1280, height: 1100 })
    await photograph(page, `overview-${colorScheme}`, '/')
    await photograph(page, `nodes-${colorScheme}`, '/nodes')
    await page.setViewportSize({ width: 1280, height: 860 })
    await photograph(page, `run-${colorScheme}`, `/runs/${fleet.recoveredId}`)
    await photograph(page, `drain-${colorScheme}`, '/nodes', async () => {
      await page.getByRole('button', { name: 'Drain…' }).first().click()
    })
    await wide.close()
  }
} finally {
  await browser.close()
  await server.close()
  await fleet[Symbol.asyncDispose]()
  await close()
  await database.close()
  await rm(folder, { recursive: true, force: true })
}

async function photograph(page: Page, name: string, path: string, act = async () => {}): Promise<void> {
  await page.goto(server.url + path)
  await page.locator('main h1').waitFor()
  await sleep(settleMs)
  await act()
  await sleep(settleMs)
  const file = join(target, `${name}.webp`)
  await writeFile(file, await webp(page, await page.screenshot()))
  console.log(file)
}

/** A third of the size of PNG; the browser is the encoder. */
async function webp(page: Page, png: Buffer): Promise<Buffer> {
  const blank = await page.context().newPage()
  try {
    const data = await blank.evaluate(
      async ([source, share]) => {
        const image = new Image()
        image.src = `data:image/png;base64,${source}`
        await image.decode()
        const canvas = document.createElement('canvas')
        ;[canvas.width, canvas.height] = [image.width, image.height]
        canvas.getContext('2d')?.drawImage(image, 0, 0)
        return canvas.toDataURL('image/webp', share)
      },
      [png.toString('base64'), quality] as const,
    )
    return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64')
  } finally {
    await blank.close()
  }
}
