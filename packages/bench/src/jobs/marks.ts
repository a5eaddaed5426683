/** Reads the file of marks. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { markBytes } from './job.ts'

interface Mark {
  readonly number: number
  readonly atMs: number
}

export interface Marks extends Disposable {
  readonly path: string
  count(): number
  at(index: number): Mark
  all(): Mark[]
  /** Waits until the file has this many marks. */
  reach(count: number, alive?: () => void): Promise<void>
}

const reachMsMax = 600_000
const pollMs = 2
const memoryDir = '/dev/shm'
let made = 0

export function createMarks(): Marks {
  const path = join(existsSync(memoryDir) ? memoryDir : tmpdir(), `q-bench-marks-${process.pid}-${++made}`)
  const file = openSync(path, 'a+')
  const count = () => Math.floor(fstatSync(file).size / markBytes)
  return {
    path,
    count,
    at(index) {
      const mark = new Float64Array(2)
      readSync(file, new Uint8Array(mark.buffer), 0, markBytes, index * markBytes)
      return { number: mark[0] ?? 0, atMs: mark[1] ?? 0 }
    },
    all() {
      const { buffer, byteOffset, byteLength } = Uint8Array.from(readFileSync(path))
      const values = new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT)
      return Array.from({ length: values.length / 2 }, (_, index) => ({
        number: values[index * 2] ?? 0,
        atMs: values[index * 2 + 1] ?? 0,
      }))
    },
    async reach(wanted, alive = () => {}) {
      const untilMs = performance.now() + reachMsMax
      while (count() < wanted) {
        alive()
        if (performance.now() > untilMs)
          throw new Error(`Only ${count()} of ${wanted} jobs began within ${reachMsMax} ms.`)
        await sleep(pollMs)
      }
    },
    [Symbol.dispose]() {
      closeSync(file)
      rmSync(path, { force: true })
    },
  }
}
