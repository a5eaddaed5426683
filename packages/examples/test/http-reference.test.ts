/** The requests in docs/reference/http.md are answered as it shows. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readOrMakeToken, startServer } from '@q/server'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { introduction } from '../../store/test/replica-registration.ts'
import { printsAsExpected, readDocument } from './document.ts'

/** A node that follows no order, so that its drain can be undone at leisure. */
const node = { ...introduction('k3v9w2', 'eu-2'), slots: 8 }
const shown = 'http://127.0.0.1:7780'
const text = await readFile(new URL('../../../docs/reference/http.md', import.meta.url), 'utf8')
const { steps } = readDocument(text.replaceAll(/^```ts\n[^]*?^```$/gm, ''))
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

test.skipIf(!hasCurl)('its requests work and print the shown answers', async () => {
  await using database = await testDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'q-http-'))
  const tokenFile = join(folder, 'token')
  const token = readOrMakeToken(tokenFile)
  const settings = { port: 0, readOnly: false, badge: null }
  const connection = connect(database.url, { purpose: 'pool' })
  await createStore(connection.db).registerReplica(node)
  const server = await startServer({ databaseUrl: database.url, settings, tokenFile, version: '0.0.0' })
  try {
    expect(steps.length).toBeGreaterThan(0)
    for (const step of steps) {
      if (step.kind !== 'command') continue
      const command = step.command.replaceAll(shown, `http://127.0.0.1:${server.port}`)
      const { stdout } = await promisify(execFile)('sh', ['-c', command], {
        env: { PATH: process.env['PATH'], TOKEN: token },
      })
      const asShown = printsAsExpected(stdout, step.prints) ? step.prints : stdout
      expect(`$ ${step.command}\n${asShown}`).toBe(`$ ${step.command}\n${step.prints}`)
    }
  } finally {
    await server.close()
    await connection.close()
    rmSync(folder, { recursive: true })
  }
})
