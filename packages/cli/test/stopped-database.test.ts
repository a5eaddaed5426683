import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { operatingCommands } from './commands-all.ts'
import { q } from './terminal.ts'

/** A port at which nothing answers. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

const port = await freePort()
const env = { DATABASE_URL: `postgresql://u:hunter2@127.0.0.1:${port}/q` }

const words = `DATABASE_UNREACHABLE  The database at 127.0.0.1:${port}/q cannot be reached.
  why  No server answers there (ECONNREFUSED).
  fix  Check host and port in DATABASE_URL and that the server runs; without DATABASE_URL an embedded one is used.
`

test.each(operatingCommands().map((args) => [args.join(' '), args] as const))(
  'without the database, q %s exits with 3 and the same message',
  async (_, args) => {
    const { code, stdout, stderr } = await q(args, env)
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: '', stderr: words })
    const json = await q([...args, '--json'], env)
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 3, stderr: '' })
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'DATABASE_UNREACHABLE' } })
  },
)
