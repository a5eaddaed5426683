/** The verbs, bound to a database: the table of contents of this package. */
import type { DB } from '@q/schema'
import type { Kysely } from 'kysely'
import { livenessVerbs, type LivenessVerbs } from './verbs/liveness.ts'
import { readVerbs, type ReadVerbs } from './verbs/reads.ts'
import { runVerbs, type RunVerbs } from './verbs/runs.ts'
import { workflowVerbs, type WorkflowVerbs } from './verbs/workflows.ts'

export interface Store extends RunVerbs, WorkflowVerbs, LivenessVerbs, ReadVerbs {}

export function createStore(db: Kysely<DB>): Store {
  return { ...runVerbs(db), ...workflowVerbs(db), ...livenessVerbs(db), ...readVerbs(db) }
}
