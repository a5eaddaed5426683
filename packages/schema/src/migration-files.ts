/**
 * Reads the migrations that this program knows: `db/migrations/NNNN-name.sql`, plain SQL, forward only.
 * In the repository `./migrations` is a link to that folder; the build copies the files beside the compiled code.
 */
import { readdir, readFile } from 'node:fs/promises'

export interface MigrationFile {
  /** File name without `.sql`, as recorded in the database. */
  readonly name: string
  /** The number at the start of the name. */
  readonly level: number
  readonly sql: string
}

const folder = new URL('./migrations/', import.meta.url)

export async function migrationFiles(): Promise<MigrationFile[]> {
  return Promise.all(
    (await migrationNames()).map(async (file) => ({
      name: file.slice(0, -'.sql'.length),
      level: levelOf(file),
      sql: await readFile(new URL(file, folder), 'utf8'),
    })),
  )
}

let known: Promise<number> | undefined

/** The level of this program: the number of the newest migration it knows. */
export function programLevel(): Promise<number> {
  known ??= migrationNames().then((names) => Math.max(0, ...names.map(levelOf)))
  return known
}

async function migrationNames(): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted()
}

function levelOf(name: string): number {
  const level = /^(\d{4})-/.exec(name)?.[1]
  if (level === undefined) throw new Error(`A migration is named NNNN-name.sql, but one is named "${name}".`)
  return Number(level)
}
