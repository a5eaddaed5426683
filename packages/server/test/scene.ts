/** A real server on a free port of loopback, on a database of its own, with a token of each scope. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, addNamedToken, readOrMakeToken, type HttpSettings, type ServerOptions } from '@q/server'
import { connect, createStore } from '@q/store'
import { testDatabase } from '@q/testing'

/** Options that may depend on the database. */
type Options = Partial<ServerOptions> | ((databaseUrl: string) => Promise<Partial<ServerOptions>>)

export async function serverScene(settings: Partial<HttpSettings> = {}, options: Options = {}) {
  const database = await testDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'q server '))
  const tokenFile = join(folder, 'token')
  const tokensFile = join(folder, 'tokens')
  const tokens = {
    owner: readOrMakeToken(tokenFile),
    read: addNamedToken(tokensFile, { name: 'reader', scope: 'read' }),
    enqueue: addNamedToken(tokensFile, { name: 'producer', scope: 'enqueue' }),
    work: addNamedToken(tokensFile, { name: 'agents', scope: 'work' }),
    otherWork: addNamedToken(tokensFile, { name: 'others', scope: 'work' }),
    admin: addNamedToken(tokensFile, { name: 'oncall', scope: 'admin' }),
  }
  const faults: unknown[] = []
  const connection = connect(database.url, { purpose: 'pool' })
  const server = await startServer({
    databaseUrl: database.url,
    settings: { readOnly: false, badge: null, port: 0, tokensFile, ...settings },
    tokenFile,
    version: '1.2.3',
    checkAnswers: true,
    actionsAtOnce: 1_000,
    onFault: (error) => faults.push(error),
    ...(typeof options === 'function' ? await options(database.url) : options),
  })
  const base = `http://127.0.0.1:${server.port}`
  async function ask(method: string, path: string, { token, body, headers }: RequestParts = {}) {
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('Content-Type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      data: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  return {
    server,
    base,
    database,
    db: connection.db,
    store: createStore(connection.db),
    tokens,
    tokenFile,
    tokensFile,
    faults,
    ask,
    writeToken: (text: string) => writeFileSync(tokenFile, `${text}\n`, { mode: 0o600 }),
    async close() {
      await server.close()
      await connection.close()
      await database.drop()
      rmSync(folder, { recursive: true })
    },
  }
}

interface RequestParts {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}
