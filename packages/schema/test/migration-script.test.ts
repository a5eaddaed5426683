/** `q migrate --sql`: a manually run script leaves what the program would have left. */
import { expect, test } from 'vitest'
import { migrationFiles, migrationScript, schemaState } from '@q/schema'
import { connect } from '@q/store'
import { schemaSnapshot } from '../../../scripts/schema-snapshot/schema-snapshot.ts'
import { openDatabase, type OpenDatabase } from './open-database.ts'
import { runScript } from './run-script.ts'

const names = (await migrationFiles()).map((file) => file.name)

test.each([
  ['an empty database', { migrated: false }],
  ['a database left at an earlier migration', { upTo: names[0]! }],
])('the script for %s leaves exactly what migrating leaves', async (_, options) => {
  await using byScript = await openDatabase(options)
  await using byProgram = await openDatabase()
  await runScript(byScript.url, await scriptFor(byScript.url))
  expect(await schemaSnapshot(byScript.client)).toBe(await schemaSnapshot(byProgram.client))
  expect(await ledgerOf(byScript)).toEqual(await ledgerOf(byProgram))
})

test('the script records itself: afterwards nothing is pending', async () => {
  await using database = await openDatabase({ migrated: false })
  await runScript(database.url, await scriptFor(database.url))
  const connection = connect(database.url, { purpose: 'control' })
  expect(await schemaState(connection.db)).toEqual({ applied: names, newer: [], pending: [] })
  await connection.close()
  expect(await scriptFor(database.url)).toBe('-- Nothing is pending: the schema is current.\n')
})

test('the script refuses to run twice, and the second time changes nothing', async () => {
  await using database = await openDatabase({ migrated: false })
  const script = await scriptFor(database.url)
  await runScript(database.url, script)
  const before = await ledgerOf(database)
  await expect(runScript(database.url, script)).rejects.toThrow(
    'the database has moved on since this script was printed',
  )
  expect(await ledgerOf(database)).toEqual(before)
})

async function scriptFor(url: string): Promise<string> {
  const connection = connect(url, { purpose: 'control' })
  try {
    return await migrationScript(connection.db)
  } finally {
    await connection.close()
  }
}

/** Which migrations are recorded, in which shape; and the rows the migrations themselves wrote. */
async function ledgerOf({ client }: OpenDatabase): Promise<unknown> {
  const { rows } = await client.query(`
    select (select json_agg(m order by name) from (
        select name, timestamp ~ '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' as iso from q.migration) m) as migrations,
      (select json_agg(l) from q.migration_lock l) as locks,
      (select json_agg(c) from q.compatibility c) as compatibility`)
  return rows
}
