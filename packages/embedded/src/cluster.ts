/**
 * The cluster: data, password and log in one directory. One rename creates it (atomic-directory.ts), so the password always
 * belongs to the data. No lock is held in the meantime.
 */
import { randomBytes } from 'node:crypto'
import { chown, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DataHome, foreign } from './data-dir.ts'
import { diskFull, isDiskFull, explainDiskErrors } from './disk-errors.ts'
import { EmbeddedError } from './embedded-error.ts'
import { createDirectoryOnce, removeLeftovers, syncToDisk } from './atomic-directory.ts'
import type { Programs } from './programs.ts'
import { runProgram } from './run-program.ts'

export interface Cluster extends DataHome {
  readonly data: string
  readonly log: string
  readonly password: string
  /** The system identifier that initdb gave this data: read from pg_control and compared with that of a running server. */
  readonly systemId: string
}

/** The role that owns everything, and the database in the URL. */
export const roleName = 'q'
export const databaseName = 'q'

const initdbMsMax = 180_000

export async function openCluster(home: DataHome, programs: Programs, durable: boolean): Promise<Cluster> {
  try {
    await removeLeftovers(home.clusterDir)
    await createDirectoryOnce(home.clusterDir, (part) => initCluster(part, home, programs, durable))
  } catch (error) {
    throw explainDiskErrors(error, home.dataDir)
  }
  const data = join(home.clusterDir, 'data')
  await checkVersion(data, programs)
  const password = await readOwn(home, join(home.clusterDir, 'password'))
  return { ...home, data, log: join(home.clusterDir, 'log'), password, systemId: await readSystemId(data) }
}

async function initCluster(part: string, home: DataHome, programs: Programs, durable: boolean): Promise<void> {
  const password = join(part, 'password')
  await writeFile(password, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
  await syncToDisk(password)
  await mkdir(join(part, 'log'), { mode: 0o700 })
  const { become } = home.user
  if (become !== undefined) {
    for (const path of [password, join(part, 'log'), part]) await chown(path, become.uid, become.gid)
  }
  const ran = await runProgram(programs.initdb, initdbArgs(durable), { become, cwd: part, timeoutMs: initdbMsMax })
  if (ran.code === 0) return
  if (await isDiskFull(part, ran.output)) throw diskFull(home.dataDir)
  throw new EmbeddedError({
    code: 'SERVER_DID_NOT_START',
    what: `PostgreSQL could not create a database in ${home.dataDir}.`,
    why: ran.output.split('\n').slice(-8).join('\n'),
    fix: 'Fix the cause reported above, then start again.',
  })
}

/** The builtin C.UTF-8 knows Unicode letters and sorts by code point, independent of the locales of the system. */
function initdbArgs(durable: boolean): string[] {
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = [`--username=${roleName}`, '--pwfile=password', '--auth=scram-sha-256']
  const args = ['-D', 'data', ...access, ...locale, '--data-checksums', '--no-instructions']
  return durable ? args : [...args, '--no-sync']
}

async function checkVersion(data: string, programs: Programs): Promise<void> {
  const found = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
  if (found === programs.major) return
  throw new EmbeddedError({
    code: 'DATA_VERSION',
    what: `The database in ${data} was created by PostgreSQL ${found}; the installed programs are PostgreSQL ${programs.major}.`,
    why: 'PostgreSQL cannot open the data of another major version.',
    fix: `Dump it with PostgreSQL ${found} and load it into a new data directory, or install version ${found} again.`,
  })
}

async function readOwn(home: DataHome, file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw foreign(home.dataDir, `Its password file ${file} cannot be read.`, error)
  }
}

async function readSystemId(data: string): Promise<string> {
  await using control = await open(join(data, 'global', 'pg_control'))
  const { buffer } = await control.read({ buffer: Buffer.alloc(8), position: 0 })
  return buffer.readBigUInt64LE().toString()
}
