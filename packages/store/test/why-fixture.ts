/** A live replica `worker` and no run at the start of each test, the reasons of `why`, and the claim that follows. */
import { beforeEach, expect } from 'vitest'
import type { Reason, RunId } from '@q/store'
import { fixture, type Fixture } from './fixture.ts'
import { fleetOf, type Fleet } from './fleet.ts'

export interface WhyFixture extends Fixture {
  readonly fleet: Fleet
  reasons(id: RunId): Promise<readonly Reason[]>
  /** The run is ready, and the replica's claim takes it. */
  expectTaken(id: RunId, replica?: string): Promise<void>
  /** The task, published by the worker. */
  known(task: string): Promise<string>
}

export async function whyFixture(): Promise<WhyFixture> {
  const base = await fixture()
  const { store, db } = base
  const fleet = fleetOf(base)
  beforeEach(async () => {
    await db.deleteFrom('q.task_run').execute()
    await fleet.disband()
    await fleet.join('worker')
  })
  async function reasons(id: RunId): Promise<readonly Reason[]> {
    const why = await store.whyNotRunning(id)
    expect(why?.sentence).toMatch(/^It|^No|^Every|^The|^None/)
    return why!.reasons
  }
  return {
    ...base,
    fleet,
    reasons,
    async expectTaken(id, replica = 'worker') {
      expect(await reasons(id)).toMatchObject([{ reason: 'ready' }])
      expect((await fleet.claimAs(replica)).map((run) => run.runId)).toContain(id)
    },
    async known(task) {
      await fleet.publish('worker', task)
      return task
    },
  }
}
