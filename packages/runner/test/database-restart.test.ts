import { expect, onTestFinished, test } from 'vitest'
import { connect, createStore } from '@q/store'
import { eventually } from './fixture.ts'
import { gate } from './gate.ts'
import { marksFile } from './marks.ts'
import { ownServer } from './own-server.ts'
import { startProcess } from './replica-process.ts'

test.each(['SIGINT', 'SIGQUIT'] as const)(
  'a database restart (%s) loses no run: runs that others may start were stopped and ran again, the others continued',
  async (signal) => {
    const server = await ownServer()
    const marks = marksFile()
    const env = { DATABASE_URL: server.url, Q_PRESET: 'fast' }
    const replicas = [await startProcess({ env }), await startProcess({ env })]
    const { db, close } = connect(server.url, { purpose: 'pool' })
    onTestFinished(close)
    const store = createStore(db)
    const { file: until, open } = gate()
    const tasks = ['markOnce', 'markAgain', 'markOnce', 'markAgain'] as const
    const runs = await Promise.all(
      tasks.map(async (task, index) => {
        const lane = await store.internLane({ queue: 'default', task })
        const payload = { file: marks.file, name: `${index}`, until }
        const onCrash = task === 'markOnce' ? 'fail' : 'retry'
        return (await store.enqueueTaskRuns([{ task, lane, onCrash, payload }]))[0]!.id
      }),
    )
    await eventually(() => (marks.all().length === 4 ? true : undefined), 'all begin')
    await server.stop(signal)
    await eventually(() => {
      const stopped = marks.all().filter(({ what }) => what === 'stopped')
      return stopped.length === 2 ? true : undefined
    }, 'those that others may start are stopped')
    await server.start()
    open()
    const ended = await Promise.all(
      runs.map((id) =>
        eventually(async () => {
          const [run] = await store.getTaskRuns([id]).catch(() => [])
          return run === undefined || run.result === null ? undefined : run
        }, `the end of run ${id}`),
      ),
    )
    for (const [index, run] of ended.entries()) {
      expect(run).toMatchObject({ status: 'SUCCEEDED', attempt: 1 })
      expect(marks.count('began', `${index}`)).toBe(tasks[index] === 'markOnce' ? 1 : 2)
      expect(marks.count('effect', `${index}`)).toBe(1)
    }
    expect(await db.selectFrom('q.recovery').selectAll().execute()).toEqual([])
    const isAlive = async () => {
      const alive = (await store.listNodes()).filter(({ state }) => state === 'alive').map(({ id }) => id)
      return replicas.every(({ id }) => alive.includes(id)) ? true : undefined
    }
    await eventually(isAlive, 'both replicas beat again')
    expect(await store.listNodes()).toHaveLength(2)
  },
)
