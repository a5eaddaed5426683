/** Directories for one test file, and the end of every server that lives in them, whatever the tests did. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll } from 'vitest'

export const isRoot = process.getuid?.() === 0

const made: string[] = []

/** A new, empty directory that root's database user can enter (mkdtemp makes it 0700). */
export function scratch(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'q-embedded-')))
  chmodSync(dir, 0o711)
  made.push(dir)
  return dir
}

afterAll(async () => {
  for (const dir of made) await removeWithServers(dir)
})

export async function removeWithServers(dir: string): Promise<void> {
  for (const pid of processesIn(dir)) end(pid)
  await until(() => processesIn(dir).length === 0)
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
}

/** Every process of PostgreSQL that stands below this directory. */
export function processesIn(dir: string): number[] {
  const pids = readdirSync('/proc').map(Number)
  return pids.filter((pid) => pid > 0 && attempt(() => readlinkSync(`/proc/${pid}/cwd`))?.startsWith(`${dir}/`))
}

export function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'cluster', 'data', 'postmaster.pid'), 'utf8'), 10)
}

/** For what no event announces: another process's end. Bounded. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`never came true: ${holds.toString()}`)
    await wait(20)
  }
}

function end(pid: number): void {
  attempt(() => process.kill(pid, 'SIGKILL'))
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
