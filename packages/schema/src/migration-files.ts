/**
 * The migrations this program knows: `db/migrations/NNNN-name.sql`, plain SQL, forward only.
 * In the repository `./migrations` is a link to that folder; the build copies the files beside the compiled code.
 */
import { readdir, readFile } from 'node:fs/promises'

export interface MigrationFile {
  /** File name without `.sql`: what the database remembers. */
  readonly name: string
  /** The number at its head. */
  readonly level: number
  readonly sql: string
}

const folder = new URL('./migrations/', import.meta.url)

export async function migrationFiles(): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (file) => ({
      name: file.slice(0, -'.sql'.length),
      level: levelOf(file),
      sql: await readFile(new URL(file, folder), 'utf8'),
    })),
  )
}

function levelOf(name: string): number {
  const level = /^(\d{4})-/.exec(name)?.[1]
  if (level === undefined) throw new Error(`A migration is named NNNN-name.sql, but one is named "${name}".`)
  return Number(level)
}
