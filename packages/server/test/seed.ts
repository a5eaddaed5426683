/** A little of everything in the database: nodes, runs in several states, a recovery, a workflow, logs, a schedule. */
import { workflow, queue, task } from '@q/client'
import type { ReplicaRegistration, Store } from '@q/store'
import { introduction } from '../../store/test/replica-registration.ts'

const hello = task({}, (_: { readonly name?: string }) => 'hi')
const by = { hostname: 'h', pid: 1, thread: 0 }

export function registration(id: string): ReplicaRegistration {
  return { ...introduction(id, `node-${id}`), tasks: ['hello', 'fails'] }
}

export async function seed(store: Store, url: string) {
  await store.registerReplica(registration('aaa'))
  await store.registerReplica(registration('bbb'))
  const notice = { queue: 'default', options: {}, payloadSchema: null }
  await store.publishTasks('aaa', [
    { name: 'hello', ...notice, payloadSchema: { type: 'object', properties: { name: { type: 'string' } } } },
    { name: 'fails', ...notice },
  ])
  const producer = queue<{ hello: typeof hello }>(url)
  const ids: string[] = []
  for (const name of ['ended', 'failed', 'abandoned', 'held']) ids.push((await producer.enqueue('hello', { name })).id)
  const claim = (replicaId: string) =>
    store.claimAvailableTaskRuns({ replicaId, tasks: ['hello'], queues: [], limit: 1 })
  const [ended, failed] = [...(await claim('aaa')), ...(await claim('aaa'))]
  await store.settleTaskRuns([
    { lease: ended!, outcome: { status: 'SUCCEEDED', result: '{"big":9007199254740993}' }, by },
  ])
  await store.appendTaskLogs([{ lease: failed!, lineNo: 1, level: 30, line: 'one', ageMs: 0 }])
  await store.settleTaskRuns([{ lease: failed!, outcome: { status: 'FAILED', code: 'TASK_ERROR', detail: 'no' }, by }])
  await claim('never-alive')
  await store.reap({ by: 'test' })
  await claim('bbb')
  const waiting = (await producer.enqueue('hello', { name: 'waiting' }, { delay: '1h' })).id
  const build = workflow<{ hello: typeof hello }>()('build', ({ step }) => {
    const first = step('hello', { name: 'first' })
    return step('hello', { name: first }, { name: 'second' })
  })
  const { id: workflowId } = await producer.start(build)
  await producer.schedule('nightly', { task: 'hello', cron: '0 9 * * *', payload: {} })
  await producer.close()
  const [endedId = '', failedId = '', abandonedId = '', heldId = ''] = ids
  return { endedId, failedId, abandonedId, heldId, waitingId: waiting, workflowId: String(workflowId) }
}
