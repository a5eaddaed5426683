/** A CPU-bound run survives the death of its process. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { queue } from '@q/client'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'
import { eventually, moduleUrl } from './fixture.ts'
import { startProcess } from './replica-process.ts'
import { squareRoots } from './tasks/long-loop.ts'
import type * as longLoop from './tasks/long-loop.ts'

test('a CPU-bound run whose replica is killed at 60 % continues at 60 % on another replica', async () => {
  const database = await testDatabase()
  const { db, close } = connect(database.url, { purpose: 'pool' })
  const store = createStore(db)
  const q = queue<typeof longLoop>(database.url)
  const folder = mkdtempSync(join(tmpdir(), 'q-rows-'))
  onTestFinished(async () => {
    await q.close()
    await close()
    await database.drop()
    rmSync(folder, { recursive: true })
  })
  const file = join(folder, 'rows')
  const env = { DATABASE_URL: database.url, Q_PRESET: 'fast', Q_TASKS: fileURLToPath(moduleUrl('long-loop')) }

  const victim = await startProcess({ env })
  const run = await q.enqueue('sumsRows', { rows: 100, file, stuckAt: 60 })
  await eventually(async () => {
    const checkpoint = (await store.getTaskRun(run.id))?.run.checkpoint as { state?: { row: number } } | null
    return checkpoint?.state?.row === 60 ? true : undefined
  }, 'it is at 60 %')
  const survivor = await startProcess({ env })
  victim.kill('SIGKILL')
  const rows = Array.from({ length: 100 }, (_, row) => row)

  const sum = rows.reduce((total, row) => total + squareRoots(row), 0)
  expect(await run.result({ timeout: '50s' })).toEqual({ begunAt: 60, sum })
  expect(await run.status()).toMatchObject({ attempt: 2, replicaId: survivor.id })
  // Each row was worked on once: the first sixty there, the others here.
  expect(readFileSync(file, 'utf8').trim().split('\n').map(Number)).toEqual(rows)
})
