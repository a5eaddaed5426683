/**
 * The job that every contender executes: it records its start, then computes.
 *
 * A mark is 16 bytes appended to one file: the number of the job and the time on the clock that all processes of a
 * machine share. The benchmark counts jobs by the size of that file and never scans a table while a queue works.
 */
import { openSync, writeSync } from 'node:fs'

export interface Job {
  readonly number: number
  /** Iterations of the computation; 0 for a no-op. */
  readonly iterations: number
  /** How long the job blocks its thread without computing. */
  readonly blockMs?: number
}

export const markBytes = 16
/** The environment variable that names the file of marks. */
export const marksVariable = 'BENCH_MARKS'

const mark = new Float64Array(2)
const bytes = new Uint8Array(mark.buffer)
let file: number | undefined

export function executeJob({ number, iterations, blockMs = 0 }: Job): number {
  file ??= openSync(process.env[marksVariable] ?? '', 'a')
  mark[0] = number
  mark[1] = monotonicMs()
  writeSync(file, bytes)
  if (blockMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs)
  // Not a plain call: after some hundred jobs the compiler would inline the loop here, and run it five times slower.
  return Reflect.apply(compute, undefined, [iterations])
}

export function compute(iterations: number): number {
  const steps = Math.trunc(iterations)
  let value = 1
  for (let step = 0; step < steps; step++) value = (Math.imul(value, 1_103_515_245) + 12_345) | 0
  return value
}

/** Milliseconds on the monotonic clock of the machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
