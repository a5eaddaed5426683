/** Many runs that failed. To be called while no replica executes them. */
import { queue } from '@q/client'
import type { Scene } from '../browser/scene.ts'
import * as tasks from '../browser/tasks.ts'

const atOnce = 500
const by = { hostname: 'test', pid: 1, thread: 0 }
const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: 'bulk' } as const

export async function failedRuns({ store, databaseUrl }: Scene, count: number, group: string): Promise<void> {
  // With the definitions at hand nothing has to be published first.
  const q = queue(databaseUrl, { tasks })
  for (let made = 0; made < count; made += atOnce)
    await q.enqueueMany(Array.from({ length: atOnce }, () => ['fail', { message: 'bulk' }, { group }] as const))
  await q.close()
  for (let failed = 0; failed < count; failed += atOnce) {
    const leases = await store.claimAvailableTaskRuns({ replicaId: 'test', tasks: ['fail'], queues: [], limit: atOnce })
    await store.settleTaskRuns(leases.map((lease) => ({ lease, outcome, by })))
  }
}
