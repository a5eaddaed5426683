/** The Python worker of docs/how-to/external-workers.md, with a real server: it works, and is recovered when it dies. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { queue } from '@q/client'
import { addNamedToken, startServer } from '@q/server'
import { connect, createStore, type RunId } from '@q/store'
import { testDatabase } from '@q/testing'

const hasPython = spawnSync('python3', ['--version']).status === 0
const guide = new URL('../../../docs/how-to/external-workers.md', import.meta.url)

/** A database and a server of one test: a request of a worker that was killed may still claim a run. */
async function scene() {
  const database = await testDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'q worker '))
  const tokensFile = join(folder, 'tokens')
  const token = addNamedToken(tokensFile, { name: 'agents', scope: 'work' })
  const settings = { readOnly: false, badge: null, port: 0, tokensFile }
  const server = await startServer({ databaseUrl: database.url, settings, tokenFile: undefined, version: '0' })
  const connection = connect(database.url, { purpose: 'pool' })
  const { db } = connection
  const store = createStore(db)
  const q = queue(database.url)
  const [, program = ''] = /^```python\n([^]*?)^```$/m.exec(await readFile(guide, 'utf8')) ?? []
  await writeFile(join(folder, 'worker.py'), program)
  onTestFinished(async () => {
    await q.close()
    await server.close()
    await connection.close()
    await database.drop()
    await rm(folder, { recursive: true })
  })

  function startWorker(): ChildProcess {
    const env = { ...process.env, Q_URL: server.url, Q_TOKEN: token, Q_BEAT_S: '1' }
    const worker = spawn('python3', ['worker.py'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(async () => {
      if (worker.exitCode !== null || worker.signalCode !== null) return
      worker.kill('SIGKILL')
      await once(worker, 'exit')
    })
    return worker
  }

  async function startedRun() {
    const { id } = await q.enqueue('caption', { text: 'late', seconds: 600 })
    const holding = db.selectFrom('q.task_run').select(['fence', 'replica_id']).where('id', '=', id)
    const run = await eventually(() => holding.where('status', '=', 'RUNNING').executeTakeFirstOrThrow())
    return { id, fence: run.fence, replicaId: run.replica_id ?? '' }
  }

  /** All signs of the worker are old, and a reaper looks; again if a request of it was still on its way. */
  async function recover(replicaId: string): Promise<readonly RunId[]> {
    const longAgo = new Date(Date.now() - 3_600_000)
    return eventually(async () => {
      await db
        .updateTable('q.replica_heartbeat')
        .set({ last_heartbeat: longAgo })
        .where('replica_id', '=', replicaId)
        .execute()
      const held = db.updateTable('q.task_run').where('replica_id', '=', replicaId).where('held', '=', true)
      await held.set({ claimed_at: longAgo, started_at: longAgo }).execute()
      await db.updateTable('q.task_heartbeat').set({ sent_at: longAgo }).where('sender_id', '=', replicaId).execute()
      const { ids } = await store.reap({ by: 'test' })
      if (ids.length === 0) throw new Error('The worker does not count as dead.')
      return ids
    })
  }

  return { q, store, server, token, startWorker, startedRun, recover }
}

/** What the worker prints about the run. */
async function saysOf(worker: ChildProcess, id: string): Promise<string> {
  let printed = ''
  for await (const chunk of worker.stdout ?? []) {
    printed += String(chunk)
    const [, said] = new RegExp(`^run ${id}: (\\w+)\\n`, 'm').exec(printed) ?? []
    if (said !== undefined) return said
  }
  throw new Error(`The worker ended. It printed: ${printed}`)
}

const eventually = <T>(look: () => Promise<T>) => vi.waitFor(look, { timeout: 60_000, interval: 20 })

describe.runIf(hasPython)('a worker in Python', () => {
  test('executes a run, and leaves when it is asked to', async () => {
    const { q, store, startWorker } = await scene()
    const worker = startWorker()
    const run = await q.enqueue('caption', { text: 'a quiet harbour' })
    expect(await run.result({ timeout: '60s' })).toBe('A QUIET HARBOUR')
    const node = () => store.findNode('worker-python')
    expect(await node()).toMatchObject([{ preset: 'external', state: 'alive' }])
    worker.kill('SIGTERM')
    expect(await once(worker, 'exit')).toEqual([0, null])
    expect(await node()).toMatchObject([{ state: 'stopped' }])
  })

  test('is killed: its run is recovered, and its late write is refused', async () => {
    const { store, server, token, startWorker, startedRun, recover } = await scene()
    const worker = startWorker()
    const { id, fence, replicaId } = await startedRun()
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    expect(await recover(replicaId)).toEqual([id])
    expect(await store.getTaskRuns([id])).toMatchObject([{ status: 'FAILED', result: { code: 'WORKER_CRASHED' } }])
    const late = await fetch(`${server.url}/api/runs/${id}/finish`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ workerId: replicaId.split(':')[1], fence, resultText: '"late"' }),
    })
    expect([late.status, await late.json()]).toEqual([409, expect.objectContaining({ code: 'LEASE_LOST' })])
    expect(await store.getTaskRuns([id])).toMatchObject([{ status: 'FAILED' }])
  })

  test('is stopped for too long: it notices that its run is lost', async () => {
    const { startWorker, startedRun, recover } = await scene()
    const worker = startWorker()
    const { id, replicaId } = await startedRun()
    worker.kill('SIGSTOP')
    expect(await recover(replicaId)).toEqual([id])
    worker.kill('SIGCONT')
    expect(await saysOf(worker, id)).toBe('LEASE_LOST')
  })
})
