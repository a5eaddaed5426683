/** A command that waits for the database says so, whatever it asks the database for. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { connect } from '@q/store'
import { testDatabase } from '@q/testing'
import { q } from './terminal.ts'

const { url } = await testDatabase()

const commands = {
  runs: /^waiting for the database \(\d+ s\)$/,
  'retry 1': /^retry run 1 \(/,
  'cancel --task hello --dry-run': /^looking for runs that match \(/,
  recover: /^waiting for the database \(/,
  'enqueue hello': /^enqueue hello \(/,
  'doctor --only work': /^checking work\.\w+ \(/,
}

test('while a transaction locks the runs, every command says what it waits for', async () => {
  const connection = connect(url, { purpose: 'pool', connectionsMax: 1 })
  const answers: Promise<unknown>[] = []
  const said = await connection.db.transaction().execute(async (transaction) => {
    await sql`LOCK q.task_run`.execute(transaction)
    return Promise.all(Object.keys(commands).map((line) => firstProgress(line, answers)))
  })
  await Promise.all(answers)
  await connection.close()
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
