/**
 * Finds the replicas that serve a lane: the conditions of the claim, applied to the live replicas, which are
 * determined once per statement and not once per lane. In `serves`, `n` is a row of `servingReplicas` and `lane` a row
 * of q.lane.
 */
import { sql, type RawBuilder } from 'kysely'
import { isAlive, isDraining } from '../../replicas/alive.ts'
import { isCapable, isKnownTask, isWorkedOn } from '../../runs/claimable.ts'

/** Live replicas that are not draining. */
export const servingReplicas: RawBuilder<unknown> = sql`
  SELECT n.id, n.name, n.tasks, n.queues, n.capabilities FROM q.replica n JOIN q.replica_heartbeat h ON h.replica_id = n.id
  WHERE ${isAlive} AND NOT ${isDraining}`

export const knowsTask: RawBuilder<boolean> = isKnownTask(sql.ref('n.tasks'))
export const worksOnQueue: RawBuilder<boolean> = isWorkedOn(sql.ref('n.queues'))
export const isAble: RawBuilder<boolean> = isCapable(sql.ref('n.capabilities'))

export const serves: RawBuilder<boolean> = sql<boolean>`(${knowsTask} AND ${worksOnQueue} AND ${isAble})`
