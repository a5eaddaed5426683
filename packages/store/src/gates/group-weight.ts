/**
 * Sets how many shares of its queue a group gets; the default is 1. Claims read the weight, so waiting runs are served by
 * the new weight from the next claim on.
 */
import { ExplainedError } from '@q/schema'
import type { Db } from '../connection/db.ts'

const weightMax = 1_000

export async function setGroupWeight(db: Db, group: { queue: string; group: string }, weight: number): Promise<void> {
  if (!Number.isInteger(weight) || weight < 1 || weight > weightMax) throw wrongWeight(weight)
  await db
    .insertInto('q.run_group')
    .values({ queue: group.queue, grp: group.group, weight })
    .onConflict((conflict) => conflict.columns(['queue', 'grp']).doUpdateSet({ weight }))
    .execute()
}

function wrongWeight(weight: number): ExplainedError {
  return new ExplainedError({
    code: 'WEIGHT_INVALID',
    what: `${weight} cannot be the weight of a group.`,
    why: `A weight is a whole number from 1 to ${weightMax}: how many shares the group gets.`,
    fix: 'Weights are relative: with 1 and 3 the second group gets three of four turns.',
  })
}
