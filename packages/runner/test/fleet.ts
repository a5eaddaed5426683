/** Replicas in processes of their own on one database, preset `fast`, with tasks that leave marks. */
import type { RunId } from '@q/store'
import { eventually } from './fixture.ts'
import { markedRuns } from './marked-runs.ts'
import type { MarkedPayload } from './tasks/marking.ts'
import { startProcess } from './replica-process.ts'

interface EnqueueOptions extends Pick<MarkedPayload, 'againMs' | 'deaf' | 'until'> {
  readonly concurrency?: { readonly scope: string; readonly key: string }
  /** Part of the payload, for destinations. */
  readonly issue?: number
}

export async function fleet() {
  const { url, db, store, marks } = await markedRuns()
  return {
    url,
    db,
    store,
    marks,
    start: (env: Record<string, string> = {}) => startProcess({ env: { DATABASE_URL: url, Q_PRESET: 'fast', ...env } }),
    async enqueue(
      task: 'markOnce' | 'markAgain',
      name: string,
      ms: number,
      { againMs, deaf, until, issue, ...more }: EnqueueOptions = {},
    ): Promise<RunId> {
      const lane = await store.internLane({ queue: 'default', task })
      const onCrash = task === 'markOnce' ? 'fail' : 'retry'
      const [run] = await store.enqueueTaskRuns([
        { task, lane, onCrash, payload: { file: marks.file, name, ms, againMs, deaf, until, issue }, ...more },
      ])
      await store.wakeQueue('default')
      return run!.id
    },
    run: async (id: RunId) => (await store.getTaskRuns([id]))[0]!,
    ended: (id: RunId) =>
      eventually(async () => {
        const [run] = await store.getTaskRuns([id])
        return run?.result === null && run.status !== 'SUCCEEDED' ? undefined : run
      }, `the end of run ${id}`),
    watcher: async () =>
      (await db.selectFrom('q.duty').select('holder').where('name', '=', 'presence').executeTakeFirst())?.holder,
  }
}

export type Fleet = Awaited<ReturnType<typeof fleet>>
