/**
 * The database that test databases are cloned from, built once per content of the migrations.
 *
 * Its name carries a hash of the files, so a changed migration is a new template. Processes meet at an advisory lock on
 * that name: shared from before it is built until it is no longer used, exclusive while it is dropped. Builders exclude
 * each other by a second lock. It is built under another name and renamed, so one that exists is whole, whatever died
 * while building it.
 */
import { createHash } from 'node:crypto'
import { migrate, migrationFiles } from '@q/schema'
import { databaseUrl } from './database-url.ts'
import type { Maintenance } from './maintenance.ts'
import { withDatabase } from './with-database.ts'

export interface Template {
  readonly name: string
  readonly fill: (url: string) => Promise<unknown>
}

const prefix = 'q_template_'
const building = '_new'

export async function migratedTemplate(): Promise<Template> {
  const hash = createHash('sha256')
  for (const file of await migrationFiles()) hash.update(`${file.name}\n${file.sql}\n`)
  return {
    name: prefix + hash.digest('hex').slice(0, 16),
    fill: (url) => withDatabase(url, (db) => migrate(db)),
  }
}

/** Returns with the template whole and held by this connection until it ends. */
export async function holdTemplate(server: Maintenance, url: string, template: Template): Promise<void> {
  await server.lock(template.name, 'shared')
  if (await server.has(template.name)) return
  const builder = template.name + building
  await server.lock(builder, 'exclusive')
  try {
    if (!(await server.has(template.name))) await build(server, url, template)
  } finally {
    await server.unlock(builder, 'exclusive')
  }
}

async function build(server: Maintenance, url: string, { name, fill }: Template): Promise<void> {
  const unfinished = name + building
  await server.drop(unfinished, 'force')
  await server.create(unfinished)
  await fill(databaseUrl(url, unfinished))
  await server.seal(unfinished)
  await server.rename(unfinished, name)
  await dropUnused(server, name)
}

/** Templates of other contents of the migrations, whole or not, unless somebody uses or builds them. */
async function dropUnused(server: Maintenance, own: string): Promise<void> {
  for (const database of await server.databases(prefix)) {
    const name = database.endsWith(building) ? database.slice(0, -building.length) : database
    if (name === own || !(await server.tryLock(name))) continue
    try {
      await server.drop(database, 'force')
    } finally {
      await server.unlock(name, 'exclusive')
    }
  }
}
