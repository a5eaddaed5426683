/** All measurements, in the order of the report. */
import { blockedLoop } from './blocked-loop.ts'
import { deliveries } from './deliveries.ts'
import { cpu2, cpu22, noOp } from './drains.ts'
import { enqueueRate } from './enqueue.ts'
import { growth } from './growth.ts'
import { heapGrowth } from './heap-growth.ts'
import { heartbeats } from './heartbeats.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import type { Measurement } from './measurement.ts'
import { monitor } from './monitor.ts'
import { memory } from './memory.ts'
import { recoveryTime } from './recovery.ts'
import { replicas } from './replicas.ts'
import { roundTrips } from './round-trips.ts'
import { heartbeatCost } from './heartbeat-cost.ts'
import { store } from './store.ts'
import { workflowTime } from './workflow.ts'

export const measurements: readonly Measurement[] = [
  noOp,
  cpu2,
  cpu22,
  latency,
  enqueueRate,
  replicas,
  roundTrips,
  idle,
  memory,
  heapGrowth,
  growth,
  heartbeats,
  recoveryTime,
  blockedLoop,
  store,
  workflowTime,
  heartbeatCost,
  monitor,
  deliveries,
]
