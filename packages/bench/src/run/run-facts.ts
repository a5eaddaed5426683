/** Facts of a run: the machine, the versions, the command. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { contenders } from '../contenders/list.ts'

export interface BenchRunFacts {
  readonly size: string
  readonly command: string
  readonly date: string
  readonly commit: string
  readonly iterationsPerMs: number
  readonly machine: Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, string>>
  /** Contenders that could not run, with the reason. */
  readonly absent: Readonly<Record<string, string>>
}

export function benchRunFacts(
  given: Pick<BenchRunFacts, 'size' | 'command' | 'iterationsPerMs'> & { postgres: string },
): BenchRunFacts {
  const { postgres, ...rest } = given
  const packages = contenders.flatMap(({ package: name }) => (name === null ? [] : [name]))
  return {
    ...rest,
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit: commit(),
    machine: {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      cores: String(availableParallelism()),
      memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
      kernel: `${process.platform} ${release()}`,
    },
    versions: {
      Node: process.versions.node,
      PostgreSQL: postgres,
      ...Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
    },
    absent: Object.fromEntries(
      contenders.flatMap((each) => {
        const reason = each.absent?.()
        return reason === undefined ? [] : [[each.name, reason]]
      }),
    ),
  }
}

function versionOf(name: string): string {
  let dir = dirname(createRequire(import.meta.url).resolve(name))
  for (;;) {
    const found = packageIn(dir)
    if (found?.name === name && found.version !== undefined) return found.version
    if (dir === dirname(dir)) return 'unknown'
    dir = dirname(dir)
  }
}

function packageIn(dir: string): { name?: string; version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { name?: string; version?: string }
  } catch {
    return undefined
  }
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
