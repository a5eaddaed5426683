/**
 * The template that test databases are cloned from, built once per version of the migrations.
 *
 * Its name contains a hash of the files, so a changed migration creates a new template. Processes coordinate through an
 * advisory lock on that name: shared while the template is built or used, exclusive while it is dropped. A second lock
 * serializes builders. The template is built under another name and then renamed, so an existing template is complete even
 * if a builder died.
 */
import { createHash } from 'node:crypto'
import { migrate, migrationFiles } from '@q/schema'
import { databaseUrl } from './database-url.ts'
import type { Maintenance } from './maintenance.ts'
import { withDatabase } from './with-database.ts'

export interface DatabaseTemplate {
  readonly name: string
  readonly fill: (url: string) => Promise<unknown>
}

const prefix = 'q_template_'
const building = '_new'

export async function migratedTemplate(): Promise<DatabaseTemplate> {
  const hash = createHash('sha256')
  for (const file of await migrationFiles()) hash.update(`${file.name}\n${file.sql}\n`)
  return {
    name: prefix + hash.digest('hex').slice(0, 16),
    fill: (url) => withDatabase(url, (db) => migrate(db)),
  }
}

/** Returns when the template is complete. This connection holds its lock until it closes. */
export async function holdTemplate(server: Maintenance, url: string, template: DatabaseTemplate): Promise<void> {
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

async function build(server: Maintenance, url: string, { name, fill }: DatabaseTemplate): Promise<void> {
  const unfinished = name + building
  await server.drop(unfinished, 'force')
  await server.create(unfinished)
  await fill(databaseUrl(url, unfinished))
  await server.seal(unfinished)
  await server.rename(unfinished, name)
  await dropUnused(server, name)
}

/** Drops templates of other versions of the migrations, complete or not, unless they are in use or being built. */
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
