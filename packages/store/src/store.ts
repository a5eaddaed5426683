/** The verbs, bound to a database: the table of contents of this package. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { destinationVerbs, type DestinationVerbs } from './verbs/destinations.ts'
import { doctorVerbs, type DoctorVerbs } from './verbs/doctor.ts'
import { livenessVerbs, type LivenessVerbs } from './verbs/liveness.ts'
import { replicaVerbs, type ReplicaVerbs } from './verbs/replicas.ts'
import { nodeReadVerbs, type NodeReadVerbs } from './verbs/node-reads.ts'
import { overviewReadVerbs, type OverviewReadVerbs } from './verbs/overview-reads.ts'
import { queueReadVerbs, type QueueReadVerbs } from './verbs/queue-reads.ts'
import { operateVerbs, type OperateVerbs } from './verbs/operate.ts'
import { readVerbs, type ReadVerbs } from './verbs/reads.ts'
import { runVerbs, type RunVerbs } from './verbs/runs.ts'
import { scheduleVerbs, type ScheduleVerbs } from './verbs/schedules.ts'
import { workflowVerbs, type WorkflowVerbs } from './verbs/workflows.ts'

export interface Store
  extends
    RunVerbs,
    ScheduleVerbs,
    WorkflowVerbs,
    LivenessVerbs,
    ReplicaVerbs,
    OperateVerbs,
    DestinationVerbs,
    ReadVerbs,
    QueueReadVerbs,
    NodeReadVerbs,
    OverviewReadVerbs,
    DoctorVerbs {}

export function createStore(db: Kysely<DB>): Store {
  return {
    ...runVerbs(db),
    ...scheduleVerbs(db),
    ...workflowVerbs(db),
    ...livenessVerbs(db),
    ...replicaVerbs(db),
    ...operateVerbs(db),
    ...destinationVerbs(db),
    ...readVerbs(db),
    ...queueReadVerbs(db),
    ...nodeReadVerbs(db),
    ...overviewReadVerbs(db),
    ...doctorVerbs(db),
  }
}
