/** Observes the machine during a sample: the speed of the disk, and processor time of other programs. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { median } from '../report/statistics.ts'
import { machineBusyUs, treeCpuUs } from './processes.ts'

export interface MachineConditions {
  /** Median time of a write of one page that reaches the disk. */
  readonly fsyncUs: number
  /** Share of all cores that other programs used: 0 to 1. */
  readonly foreignLoad: number
}

const probes = 15
const page = Buffer.alloc(8_192)

function probeFsyncUs(dir: string): number {
  const path = join(dir, `fsync-probe-${process.pid}`)
  const file = openSync(path, 'w')
  try {
    return median(Array.from({ length: probes }, () => syncedWriteUs(file)))
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

/** Starts to observe; the returned function returns the observations. */
export function watchSurroundings(postmasterPid: number, dataDir: string): () => MachineConditions {
  const fsyncUs = probeFsyncUs(dataDir)
  const begunMs = performance.now()
  const before = foreignUs(postmasterPid)
  return () => {
    const elapsedUs = (performance.now() - begunMs) * 1_000
    const load = (foreignUs(postmasterPid) - before) / elapsedUs / availableParallelism()
    return { fsyncUs, foreignLoad: Math.min(1, Math.max(0, load)) }
  }
}

function foreignUs(postmasterPid: number): number {
  return machineBusyUs() - treeCpuUs(process.pid) - treeCpuUs(postmasterPid)
}

function syncedWriteUs(file: number): number {
  const begunMs = performance.now()
  writeSync(file, page, 0, page.length, 0)
  fdatasyncSync(file)
  return (performance.now() - begunMs) * 1_000
}
