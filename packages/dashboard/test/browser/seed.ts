/** Something on every page: runs that ended, failed and wait, a workflow, a schedule, a paused queue, a destination. */
import { workflow } from '@q/client'
import type { Scene } from './scene.ts'
import type * as tasks from './tasks.ts'

export interface Seeded {
  readonly succeededId: string
  readonly failedId: string
  readonly workflowId: string
  readonly replicaId: string
}

/** Starts `node-1`, which looks for destinations when it starts and then once a minute. */
export async function seed({ q, store, replica }: Scene): Promise<Seeded> {
  await store.putDestination({ name: 'dev', kind: 'log', reports: ['run-ended'] })
  const { id: replicaId } = await replica('node-1', { Q_QUEUES: 'default' })
  const succeeded = await q.enqueue('hello', { name: 'page' })
  const failed = await q.enqueue('fail', { message: 'The host cdn.example does not answer' })
  await q.enqueue('hello', { name: 'later' }, { delay: '1h' })
  await q.schedule('nightly', { task: 'hello', cron: '0 9 * * *', payload: {} })
  await store.pauseQueue('reports', 'oncall', 'bad deploy')
  const build = workflow<typeof tasks>()('build', ({ step }) => {
    const first = step('hello', { name: 'first' })
    return step('hello', { name: first }, { name: 'second' })
  })
  const started = await q.start(build)
  await succeeded.result()
  await failed.result().catch(() => {})
  await started.result()
  return { succeededId: succeeded.id, failedId: failed.id, workflowId: String(started.id), replicaId }
}

/** Every address of the page, with the heading that it has. */
export function addresses({
  failedId,
  succeededId,
  workflowId,
  replicaId,
}: Seeded): readonly (readonly [path: string, heading: string])[] {
  return [
    ['/', 'Overview'],
    ['/runs', 'Runs'],
    [`/runs/${succeededId}`, 'hello'],
    [`/runs/${failedId}`, 'fail'],
    ['/nodes', 'Nodes'],
    [`/nodes/${replicaId}`, 'node-1'],
    ['/queues', 'Queues'],
    ['/queues/default', 'default'],
    ['/workflows', 'Workflows'],
    [`/workflows/${workflowId}`, 'build'],
    ['/schedules', 'Schedules'],
    ['/schedules/nightly', 'nightly'],
    ['/errors', 'Errors'],
    ['/recoveries', 'Recoveries'],
    ['/heartbeats', 'Heartbeats'],
    ['/deliveries', 'Deliveries'],
    ['/audit', 'Audit'],
    ['/operations', 'Operations'],
    ['/enqueue', 'Enqueue'],
  ]
}
