/**
 * Hands the slots of concurrency keys that runs free to the next runs of these keys, in the statement that changes the
 * runs (transition-statement.ts), so that no slot is free in between and none is given to two runs.
 *
 * A slot goes to the most urgent run of the key that can start now (startable.ts), as long as no run of the key holds a
 * slot above the limit: after a limit was lowered, the promotion counts how many may follow, under the lock of the key.
 * The aggregate in `freed_slots` frees slots before they are taken again.
 */
import { sql, type RawBuilder } from 'kysely'
import { slotsOf } from './claimable.ts'
import { lanesWaitingFor, startRank } from './startable.ts'
import type { Transitioned } from './transition.ts'

/** Each changed run, and whether it frees a slot that may be handed on. */
const slotEffects = sql`slot_effects AS MATERIALIZED (
  SELECT g.id, g.workflow_id, g.held_fence AS fence, g.was, g.status, g.result ->> 'code' AS code, g.concurrency_slot AS slot,
    g.concurrency_key AS key,
    g.status <> 'AVAILABLE' AND g.concurrency_slot IS NOT NULL AND g.concurrency_slot <= allowed.slots AND NOT EXISTS (
      SELECT FROM q.task_run h WHERE h.concurrency_key = g.concurrency_key AND h.concurrency_slot > allowed.slots) AS frees
  FROM changed g CROSS JOIN LATERAL (SELECT ${slotsOf(sql`g.concurrency_scope`)} AS slots) allowed
)`

/** By key: the freed slots, and the runs that freed them. */
const freedSlots = sql`freed_slots AS MATERIALIZED (
  SELECT key, array_agg(slot ORDER BY slot) AS slots, array_agg(id) AS ids, array_agg(workflow_id) AS workflows, array_agg(fence) AS fences, array_agg(was) AS previous_states,
    array_agg(status) AS statuses, array_agg(code) AS codes
  FROM slot_effects WHERE frees GROUP BY key
)`

/** By key: the lanes in which runs wait for it. */
const waitingLanes = sql`waiting_lanes AS MATERIALIZED (
  SELECT freed_slots.*, ARRAY(${lanesWaitingFor(sql.ref('freed_slots.key'))}) AS lanes FROM freed_slots
)`

/** Whether, and how well, runs of a lane can start now. */
const ranks = sql`ranks AS MATERIALIZED (
  SELECT lane.id, ${startRank} AS rank FROM q.lane WHERE lane.id = ANY(ARRAY(SELECT DISTINCT unnest(lanes) FROM waiting_lanes))
)`

/** By key: the runs that get its slots, locked. There may be fewer of them than slots. */
const handovers = sql`handovers AS MATERIALIZED (
  SELECT waiting_lanes.*, ARRAY(
    SELECT next_run.id FROM unnest(waiting_lanes.lanes) own(lane) JOIN ranks ON ranks.id = own.lane AND ranks.rank IS NOT NULL
    CROSS JOIN LATERAL (
      SELECT n.id, n.priority FROM q.task_run n WHERE n.gated_key = waiting_lanes.key AND n.lane = own.lane
      ORDER BY n.priority, n.id LIMIT cardinality(waiting_lanes.slots) FOR NO KEY UPDATE SKIP LOCKED) next_run
    ORDER BY ranks.rank, next_run.priority, next_run.id LIMIT cardinality(waiting_lanes.slots)) AS successors
  FROM waiting_lanes
)`

/** The runs that get a slot become AVAILABLE. */
const promoted = sql`promoted AS (
  UPDATE q.task_run r SET status = 'AVAILABLE', waiting_for = NULL, concurrency_slot = successor.slot, updated_at = clock_timestamp()
  FROM handovers CROSS JOIN LATERAL unnest(handovers.successors, handovers.slots) successor(id, slot) WHERE r.id = successor.id
  RETURNING r.lane
)`

/** Parts of the statement; reads `changed`. */
export const slotHandover: RawBuilder<unknown> = sql`${slotEffects}, ${freedSlots}, ${waitingLanes}, ${ranks}, ${handovers}, ${promoted}`

/** The rows of the statement: the changed runs, with the keys that still have a free slot. */
export const transitionedRuns: RawBuilder<Transitioned> = sql<Transitioned>`SELECT e.id, e.workflow_id AS "workflowId", e.fence, e.was, e.status, e.code, CASE WHEN e.slot IS NOT NULL THEN e.key END AS "openKey"
FROM slot_effects e LEFT JOIN woken ON true LEFT JOIN announced ON true WHERE NOT e.frees
UNION ALL
SELECT run.id, run.workflow_id, run.fence, run.was, run.status, run.code,
  CASE WHEN cardinality(handovers.slots) > cardinality(handovers.successors) THEN handovers.key END
FROM handovers CROSS JOIN LATERAL unnest(ids, workflows, fences, previous_states, statuses, codes) run(id, workflow_id, fence, was, status, code)
LEFT JOIN woken ON true LEFT JOIN announced ON true`
