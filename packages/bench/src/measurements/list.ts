/** All measurements, in the order of the report. */
import { cpu2, cpu22, noOp } from './drains.ts'
import { enqueue } from './enqueue.ts'
import { latency } from './latency.ts'
import type { Measurement } from './measurement.ts'

export const measurements: readonly Measurement[] = [noOp, cpu2, cpu22, latency, enqueue]
