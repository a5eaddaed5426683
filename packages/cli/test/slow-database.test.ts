/** A command that waits for the database says so, whatever it asks the database for. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connect } from '@q/store'
import { testDatabase } from '@q/testing'
import { q } from './terminal.ts'

const { url } = await testDatabase()

/** What every command says while a transaction locks the table. */
async function saidWhileLocked(table: string, lines: readonly string[]): Promise<string[]> {
  const connection = connect(url, { purpose: 'pool', connectionsMax: 1 })
  const answers: Promise<unknown>[] = []
  const said = await connection.db.transaction().execute(async (transaction) => {
    await sql`LOCK ${sql.table(table)}`.execute(transaction)
    return Promise.all(lines.map((line) => firstProgress(line, answers)))
  })
  await Promise.all(answers)
  await connection.close()
  return said
}

test.each([
  [
    'q.task_run',
    {
      runs: /^waiting for the database \(\d+ s\)$/,
      'retry 1': /^retry run 1 \(/,
      'cancel --task hello --dry-run': /^looking for runs that match \(/,
      recover: /^waiting for the database \(/,
      'enqueue hello': /^enqueue hello \(/,
      'doctor --only work': /^checking work\.\w+ \(/,
    },
  ],
  ['q.migration', { status: /^waiting for the database \(/, migrate: /^reading the schema \(/ }],
])('while a transaction locks %s, every command says what it waits for', async (table, commands) => {
  const said = await saidWhileLocked(table, Object.keys(commands))
  expect(said).toEqual(Object.values(commands).map((pattern) => expect.stringMatching(pattern) as string))
})

/** What a command says first, or all that it printed if it ended before. */
function firstProgress(line: string, answers: Promise<unknown>[]): Promise<string> {
  const { promise: said, resolve: say } = Promise.withResolvers<string>()
  const answered = q(line.split(' '), { DATABASE_URL: url }, { onProgress: say })
  answers.push(answered)
  void answered.then(({ stdout, stderr }) => say(`${line} ended: ${stdout}${stderr}`))
  return said
}
