/** People and programs that log in with the roles of db/roles.sql, on a database of their own. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { testDatabase } from '@q/testing'
import { runScript } from '../../../schema/test/run-script.ts'

export interface Logins extends AsyncDisposable {
  readonly url: string
  /** Owner of the database. */
  readonly owner: Client
  /** The URL of a new login that has this role, and nothing else. */
  login(role: string): Promise<string>
}

export async function logins(): Promise<Logins> {
  const database = await testDatabase()
  const owner = new Client({ connectionString: database.url })
  await owner.connect()
  await runScript(database.url, await readFile(new URL('../../../../db/roles.sql', import.meta.url), 'utf8'))
  const names: string[] = []
  return {
    url: database.url,
    owner,
    async login(role) {
      const name = `q_test_login_${randomBytes(6).toString('hex')}`
      await owner.query(`CREATE ROLE ${name} LOGIN PASSWORD 'test' IN ROLE ${role}`)
      names.push(name)
      const url = new URL(database.url)
      url.username = name
      url.password = 'test'
      return url.href
    },
    async [Symbol.asyncDispose]() {
      for (const name of names) await owner.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`)
      await owner.end()
      await database.drop()
    },
  }
}
