/** Metrics and probes of a replica without a page, as an orchestrator sees them. */
import { testDatabase } from '@q/testing'
import { expect, onTestFinished, test } from 'vitest'
import { runQ, startReplica } from './program.ts'

test('a replica without a page has metrics and probes at their own address, until it has left', async () => {
  const database = await testDatabase()
  onTestFinished(database.drop)
  const env = { DATABASE_URL: database.url, Q_HTTP: 'off', Q_METRICS_ADDRESS: '127.0.0.1:0' }
  const replica = await startReplica(env)
  const { page, metricsPort } = replica.facts
  expect(page).toBeUndefined()
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${String(metricsPort)}${path}`)
    return { status: response.status, text: await response.text() }
  }
  expect(await runQ(['enqueue', 'hello', '{"name":"first"}', '--wait'], env)).toMatchObject({ code: 0 })
  const { text } = await ask('/metrics')
  expect(text).toContain('\nq_runs_ended_total{queue="default",task="hello",outcome="succeeded"} 1\n')
  expect(text).toContain('\nq_cluster_readable 1\n')
  for (const path of ['/startupz', '/healthz', '/readyz'])
    await expect.poll(async () => ({ path, ...(await ask(path)) })).toEqual({ path, status: 200, text: 'ok\n' })
  replica.kill('SIGTERM')
  expect(await replica.ended).toMatchObject({ code: 0 })
  await expect(ask('/healthz')).rejects.toThrow('fetch failed')
})
