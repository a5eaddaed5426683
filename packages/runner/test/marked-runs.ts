/** A database of its own, and runs of tasks/marking.ts in it, which leave marks. */
import { onTestFinished } from 'vitest'
import { connect, createStore, type Connection, type RunId, type RunView, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { eventually } from './fixture.ts'
import { marksFile, type Marks } from './marks.ts'

export interface MarkedRuns extends Pick<Connection, 'db'> {
  readonly url: string
  readonly store: Store
  readonly marks: Marks
  /** `markOnce` fails after a crash of its replica, `markAgain` is started again. */
  enqueue(task: 'markOnce' | 'markAgain', name: string, payload: object): Promise<RunId>
  ended(id: RunId): Promise<RunView>
}

export async function markedRuns(): Promise<MarkedRuns> {
  const database = await testDatabase()
  const { db, close } = connect(database.url, { purpose: 'pool' })
  const store = createStore(db)
  onTestFinished(async () => {
    await close()
    await database.drop()
  })
  const marks = marksFile()
  return {
    url: database.url,
    db,
    store,
    marks,
    async enqueue(task, name, payload) {
      const lane = await store.internLane({ queue: 'default', task })
      const onCrash = task === 'markOnce' ? 'fail' : 'retry'
      const run = { task, lane, onCrash, payload: { file: marks.file, name, ...payload } } as const
      return (await store.enqueueTaskRuns([run]))[0]!.id
    },
    ended: (id) =>
      eventually(async () => {
        const [run] = await store.getTaskRuns([id])
        return run?.result === null ? undefined : run
      }, `the end of run ${id}`),
  }
}
