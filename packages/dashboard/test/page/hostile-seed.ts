/** Text that would run as a script if a page took it for markup, in every field that users or machines fill. */
import { queue, workflow } from '@q/client'
import type { Scene } from '../browser/scene.ts'

const fields = [
  'payload',
  'key',
  'task',
  'queue',
  'group',
  'step',
  'schedule',
  'node',
  'hostname',
  'drainer',
  'note',
  'log',
  'stack',
  'detail',
  'version',
] as const
type Field = (typeof fields)[number]

/** Each has a text of its own, so that the test knows that the field was drawn. */
export const hostile = Object.fromEntries(
  fields.map((field) => [field, `<img src=x onerror=ran('${field}')>javascript:ran()`]),
) as Readonly<Record<Field, string>>

export interface Hostile {
  readonly failedId: string
  readonly runningId: string
  readonly workflowId: string
}

const replicaId = 'hostile'

export async function seedHostile({ store, databaseUrl }: Scene): Promise<Hostile> {
  const by = { hostname: hostile.hostname, pid: 1, thread: 0 }
  await store.registerReplica({
    id: replicaId,
    name: hostile.node,
    hostname: hostile.hostname,
    pid: 1,
    version: hostile.version,
    queues: [],
    tasks: [hostile.task],
    capabilities: [],
    slots: 4,
    preset: 'default',
    onCrash: 'fail',
    thresholds: {
      replicaBeatMs: 10_000,
      replicaStaleMs: 600_000,
      checkEveryMs: 30_000,
      claimerBeatMs: 30_000,
      claimerStaleMs: 1_200_000,
      runnerBeatMs: 30_000,
      runnerStaleMs: 3_000_000,
    },
  })
  await store.publishTasks(replicaId, [
    {
      name: hostile.task,
      queue: hostile.queue,
      options: { unique: { key: '/key', forMs: null } },
      payloadSchema: null,
    },
  ])
  const q = queue(databaseUrl)
  let keys = 0
  const claim = async () => {
    const payload = { [hostile.payload]: hostile.payload, key: `${hostile.key} ${keys++}` }
    const { id } = await q.enqueue(hostile.task, payload, { group: hostile.group })
    const [run] = await store.claimAvailableTaskRuns({ replicaId, tasks: [hostile.task], queues: [], limit: 1 })
    if (run === undefined || run.runId !== id) throw new Error('Another run was claimed.')
    return run
  }
  const failed = await claim()
  await store.appendTaskLogs([{ lease: failed, lineNo: 1, level: 30, line: hostile.log, ageMs: 0 }])
  const outcome = { status: 'FAILED', code: 'TASK_ERROR', detail: hostile.detail, stack: hostile.stack } as const
  await store.settleTaskRuns([{ lease: failed, outcome, by }])
  const running = await claim()
  await store.startTaskRuns([running])
  const beat = { lease: running, thread: 0, ageMs: 0, progress: 0.5, note: hostile.note }
  await store.beatTaskRuns({ replicaId, hostname: hostile.hostname, pid: 1 }, [beat])
  await store.drainReplica(replicaId, { by: hostile.drainer })
  await q.schedule(hostile.schedule, { task: hostile.task, cron: '0 9 * * *', payload: {} })
  const build = workflow()(hostile.step, ({ step }) => step(hostile.task, {}, { name: hostile.step }))
  const { id } = await q.start(build)
  await q.close()
  return { failedId: failed.runId, runningId: running.runId, workflowId: String(id) }
}
