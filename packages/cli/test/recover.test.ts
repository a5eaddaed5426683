import { sql } from 'kysely'
import { connect } from '@q/store'
import { expect, onTestFinished, test } from 'vitest'
import { exampleCluster } from './example-cluster.ts'
import { q, qJson } from './terminal.ts'

test('while no node sends heartbeats q recover names the runs that it leaves alone, and --force recovers them', async () => {
  const { env, execute, runs, close } = await exampleCluster()
  onTestFinished(close)
  expect((await q(['recover'], env)).stdout).toBe('No run is stale.\n')
  await execute(sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour'`)
  await execute(sql`UPDATE q.task_run SET claimed_at = claimed_at - interval '1 hour', started_at = started_at - interval '1 hour'
    WHERE id = ${runs.running}`)
  const answer = await q(['recover'], env)
  expect(answer).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d runs? of silent nodes (is|are) left alone: .* q recover --force /s),
  })
  const { json } = await qJson(['recover', '--force'], env)
  expect(json).toMatchObject({ ids: expect.arrayContaining([runs.running]), stuck: [] })
  expect((await q(['recover'], env)).stdout).toBe('No run is stale.\n')
})

test('q recover names the runs that it leaves alone even when it recovers others', async () => {
  const { env, execute, runs, close } = await exampleCluster()
  onTestFinished(close)
  await execute(sql`UPDATE q.replica_heartbeat SET last_heartbeat = last_heartbeat - interval '1 hour'`)
  await execute(sql`UPDATE q.task_run SET claimed_at = claimed_at - interval '1 hour', started_at = started_at - interval '1 hour'
    WHERE id = ${runs.running}`)
  await execute(sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'never-alive'
    WHERE id = (SELECT id FROM q.task_run WHERE status = 'AVAILABLE' ORDER BY id LIMIT 1)`)
  expect((await q(['recover', '--dry-run'], env)).stdout).toMatch(/^1 run would be recovered:.* left alone: /s)
  expect((await q(['recover'], env)).stdout).toMatch(/^1 run recovered: \d+\.\n.* left alone: /s)
  expect((await q(['recover'], env)).stdout).toMatch(/^\d runs? of silent nodes (is|are) left alone: /)
})

test('q recover names a stale run that another session has locked', async () => {
  const { env, execute, close } = await exampleCluster()
  onTestFinished(close)
  await execute(sql`UPDATE q.task_run SET status = 'RUNNING', replica_id = 'never-alive'
    WHERE id = (SELECT id FROM q.task_run WHERE status = 'AVAILABLE' ORDER BY id LIMIT 1)`)
  const another = connect(env.DATABASE_URL, { purpose: 'pool', connectionsMax: 1 })
  await another.db.transaction().execute(async (trx) => {
    await sql`SELECT FROM q.task_run WHERE replica_id = 'never-alive' FOR UPDATE`.execute(trx)
    expect(await q(['recover'], env)).toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/^0 runs recovered\.\n1 run \(\d+\) is locked by another session, /) as string,
    })
  })
  await another.close()
  expect((await q(['recover'], env)).stdout).toMatch(/^1 run recovered: /)
})

test('while the runs of a killed node are not yet stale by their heartbeats, q recover says who recovers them', async () => {
  const { env, execute, close } = await exampleCluster()
  onTestFinished(close)
  await execute(sql`UPDATE q.replica_heartbeat SET last_heartbeat = clock_timestamp() - interval '5 seconds'
    WHERE replica_id = 'aaaaaaaaaaa1'`)
  await execute(sql`INSERT INTO q.presence (num, replica_id, server_start)
    SELECT num, id, pg_postmaster_start_time() FROM q.replica WHERE id = 'aaaaaaaaaaa1'`)
  expect((await q(['recover'], env)).stdout).toBe(
    'No run is stale.\neu-1 is lost and executed 1 run: a live node, or the next that starts, recovers it within seconds.\n',
  )
})
