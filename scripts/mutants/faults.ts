/** All faults that the tests must detect. */
import { batchFaults } from './batch-faults.ts'
import { claimFaults } from './claim-faults.ts'
import { deliveryFaults } from './delivery-faults.ts'
import { endFaults } from './end-faults.ts'
import { enqueueFaults } from './enqueue-faults.ts'
import type { Fault } from './fault.ts'
import { keyFaults } from './key-faults.ts'
import { leaseFaults } from './lease-faults.ts'
import { livenessFaults } from './liveness-faults.ts'
import { orderFaults } from './order-faults.ts'
import { threadFaults } from './thread-faults.ts'
import { workflowFaults } from './workflow-faults.ts'

export const faults: readonly Fault[] = [
  ...leaseFaults,
  ...claimFaults,
  ...batchFaults,
  ...threadFaults,
  ...keyFaults,
  ...endFaults,
  ...enqueueFaults,
  ...livenessFaults,
  ...orderFaults,
  ...workflowFaults,
  ...deliveryFaults,
]
