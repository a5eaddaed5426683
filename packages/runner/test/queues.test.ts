import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { cluster, eventually } from './fixture.ts'

test('a replica serves its queues by their weights while all of them have work, and no others', async () => {
  const { start, url } = await cluster()
  const connection = connect(url, { purpose: 'control' })
  onTestFinished(() => connection.close())
  const store = createStore(connection.db)
  const queueOf = new Map<string, string>()
  for (const queue of ['default', 'cpu', 'elsewhere']) {
    const lane = await store.internLane({ queue, task: 'echo' })
    const runs = await store.enqueueTaskRuns(Array.from({ length: 8 }, () => ({ task: 'echo', lane, payload: queue })))
    for (const { id } of runs) queueOf.set(id, queue)
  }
  const { events } = await start({ Q_THREADS: '1', Q_QUEUES: 'cpu:3,default:1' })
  const served = () => events.flatMap((event) => (event.type === 'run-ended' ? queueOf.get(event.runId)! : []))
  await eventually(() => (served().length === 16 ? true : undefined), 'both queues are empty')
  // The oldest first, then three for one.
  expect(served().slice(0, 8).join(' ')).toBe('default cpu cpu cpu default cpu cpu cpu')
  expect(new Set(served())).toEqual(new Set(['default', 'cpu']))
})
