import { spawnSync } from 'node:child_process'
import { Client } from 'pg'

/** Runs a script with psql if it is installed, else with a client and without the lines that only psql understands. */
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
