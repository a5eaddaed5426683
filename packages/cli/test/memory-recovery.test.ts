/** Two replicas, a memory destination and the real memory server: what the file says after one replica was killed. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '@q/testing'
import { runQ, scratch, startReplica } from './program.ts'
import { qJson } from './terminal.ts'

/** Its tasks leave a mark in a file when they begin. */
const marking = fileURLToPath(new URL('../../runner/test/tasks/marking.ts', import.meta.url))

test('a run of a killed replica is on record in the memory file, beside the heartbeat of the other replica', async () => {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  const folder = await scratch('q-memory-recovery-')
  const [memory, destinations, mark] = ['memory.jsonl', 'destinations.json', 'mark'].map((name) => join(folder, name))
  const reports = ['heartbeat', 'recovery']
  await writeFile(
    destinations!,
    JSON.stringify([{ name: 'memory', kind: 'memory', reports, settings: { file: memory } }]),
  )
  const env = { DATABASE_URL: url, Q_PRESET: 'fast' }

  // The one that survives sends the reports, because it starts first.
  const survivor = await startReplica({ ...env, Q_NAME: 'survivor', Q_DESTINATIONS_FILE: destinations! })
  await inFile(memory!, 'task-sentinel/workers/survivor/heartbeat')
  const victim = await startReplica({ ...env, Q_NAME: 'victim', Q_TASKS: marking })
  const payload = JSON.stringify({ file: mark, name: 'long', ms: 600_000 })
  const run = runQ(['enqueue', 'markOnce', payload, '--wait', '--json'], env)
  await expect.poll(() => existsSync(mark!)).toBe(true)
  victim.kill('SIGKILL')

  const { id } = JSON.parse((await run).stdout) as { id: string }
  await inFile(memory!, 'task-sentinel/metrics/lock-recoveries/')
  survivor.kill('SIGTERM')
  expect(await survivor.ended).toMatchObject({ code: 0 })
  const ask = async (...args: string[]) => (await qJson(['memory', ...args], { Q_MEMORY_FILE: memory! })).json
  const { items } = (await ask('ls', '*/lock-recoveries/*')) as { items: { key: string }[] }
  expect(items).toMatchObject([{ type: 'lock-recovery', values: 1 }])
  const { value } = (await ask('get', items[0]?.key ?? '')) as { value: string }
  expect(JSON.parse(value)).toMatchObject({
    task_id: id,
    task: 'markOnce',
    worker_id: 'victim',
    became: 'FAILED',
    code: 'WORKER_CRASHED',
    stale_duration: expect.any(Number),
  })
})

async function inFile(file: string, key: string): Promise<void> {
  await expect.poll(() => readFile(file, 'utf8').catch(() => ''), { timeout: 60_000 }).toContain(key)
}
