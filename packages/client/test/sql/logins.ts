/** People and programs that log in with the roles of db/roles.sql, on a database of their own. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Client } from 'pg'
import { testDatabase } from '@q/testing'

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

/** By psql where there is one; else by a client, without the lines only psql understands. */
export async function runScript(url: string, script: string): Promise<void> {
  const psql = spawnSync('psql', ['--no-psqlrc', '--quiet', '--dbname', url], { input: script, encoding: 'utf8' })
  if (psql.error === undefined) {
    if (psql.status !== 0) throw new Error(psql.stderr)
    return
  }
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(script.replaceAll(/^\\.*$/gm, ''))
  } finally {
    await client.end()
  }
}
