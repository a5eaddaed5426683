/** All checks of `q doctor`, in the order in which they run. */
import { hereChecks } from './here.ts'
import { livenessChecks } from './liveness.ts'
import { reachChecks } from './reach.ts'
import { schemaChecks } from './schema.ts'
import { serverChecks } from './server.ts'
import { vacuumChecks } from './vacuum.ts'
import { workChecks } from './work.ts'
import type { Check } from './check.ts'

export const checks: readonly Check[] = [
  ...reachChecks,
  ...serverChecks,
  ...schemaChecks,
  ...vacuumChecks,
  ...livenessChecks,
  ...workChecks,
  ...hereChecks,
]
