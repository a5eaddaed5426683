/** One replica, one thread, one run that only sends heartbeats. */
import { readConfig, startRunner } from '@q/runner'
import { connect, createStore, type Store } from '@q/store'
import type { HeartbeatCosts } from './heartbeat-task.ts'

const waitMsMax = 120_000

/** Nanoseconds per call, by kind. `databaseUrl`: migrated. */
export async function measureHeartbeatCost(databaseUrl: string, rounds: number): Promise<HeartbeatCosts> {
  const runner = await startRunner({
    databaseUrl,
    config: readConfig({ Q_THREADS: '1' }),
    version: 'bench',
    taskModules: [new URL(`./heartbeat-task${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href],
    observe: () => {},
  })
  const connection = connect(databaseUrl, { purpose: 'control' })
  try {
    const store = createStore(connection.db)
    return {
      ...(await measure(store, 'measureHeartbeats', rounds)),
      ...(await measure(store, 'measureFenced', rounds)),
    }
  } finally {
    await runner.drain()
    await connection.close()
  }
}

async function measure(store: Store, task: string, rounds: number): Promise<HeartbeatCosts> {
  const lane = await store.internLane({ queue: 'default', task })
  const [run] = await store.enqueueTaskRuns([{ task, lane, payload: { rounds } }])
  if (run === undefined) throw new Error('Nothing was enqueued.')
  const deadlineMs = performance.now() + waitMsMax
  while (performance.now() < deadlineMs) {
    const [view] = await store.getTaskRuns([run.id])
    if (view?.status === 'SUCCEEDED') return view.result as HeartbeatCosts
    if (view?.status === 'FAILED') throw new Error(`The benchmark failed: ${JSON.stringify(view.result)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('The benchmark did not end.')
}
