/** Tasks that are published after runs of them were enqueued. */
import { sql } from 'kysely'
import { Client } from 'pg'
import { onTestFinished } from 'vitest'
import type { EnqueuedRun, NewRun, RunId } from '@q/store'
import { fixture, type Fixture } from './fixture.ts'
import { introduction } from './replica-registration.ts'

export const hour = 3_600_000

export interface TaskGateFixture extends Fixture {
  /** Publishes a task by a live replica that serves it. */
  publish(name: string, options?: Record<string, unknown>, queue?: string): Promise<void>
  enqueueOne(task: string, payload?: unknown, more?: Partial<NewRun>): Promise<EnqueuedRun>
  /** As if it had been enqueued so much earlier. */
  age(id: RunId, ms: number): Promise<void>
  session(): Promise<Client>
}

export async function taskGateFixture(): Promise<TaskGateFixture> {
  const base = await fixture()
  const { url, store, db } = base
  return {
    ...base,
    async publish(name, options = {}, queue = 'default') {
      await store.registerReplica({ ...introduction(`r-${name}`), tasks: [name], capabilities: ['gpu'] })
      await store.publishTasks('r', [{ name, queue, options: { queue, ...options }, payloadSchema: null }])
    },
    async enqueueOne(task, payload = {}, more = {}) {
      return (await store.enqueueTaskRuns([{ task, payload, ...more }]))[0]!
    },
    async age(id, ms) {
      await sql`UPDATE q.task_run SET created_at = created_at - ${ms} * interval '1 ms', run_at = run_at - ${ms} * interval '1 ms'
        WHERE id = ${id}`.execute(db)
    },
    async session() {
      const client = new Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      return client
    },
  }
}
