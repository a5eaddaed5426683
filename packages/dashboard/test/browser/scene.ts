/**
 * The page in a real browser, against a real server, database and replicas. One browser for a file; every scene has a database of its
 * own and closes everything it opened.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { queue, type Queue } from '@q/client'
import { addNamedToken, readOrMakeToken, startServer } from '@q/server'
import { connect, createStore, type Store } from '@q/store'
import { testDatabase } from '@q/testing'
import { buildPage } from '../../build.ts'
import { type Replica, startReplica } from './replica.ts'
import { proxyTo, type SwitchableProxy } from './switchable-proxy.ts'
import type * as tasks from './tasks.ts'

interface Gate {
  readonly until: string
  release(): void
}

export interface Scene extends AsyncDisposable {
  readonly origin: string
  /** Of the server itself. */
  readonly port: number
  readonly databaseUrl: string
  readonly token: string
  readonly readToken: string
  readonly store: Store
  readonly q: Queue<typeof tasks>
  /** Between the server and its database. */
  readonly proxy: SwitchableProxy
  /** A new file that runs wait for. `release()` makes it; so does the end of the scene. */
  gate(): Gate
  replica(name: string, env?: Record<string, string>): Promise<Replica>
  /** How many streams the server has open. */
  streams(): number
  /** A signed-in page. Its exceptions are collected in `faults`. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
  /** What the browser reported: exceptions, refused content. */
  readonly faults: readonly string[]
}

let built: Promise<string> | undefined

/** Once for all files of a worker. */
function pageFolder(): Promise<string> {
  built ??= (async () => {
    const outDir = join(tmpdir(), `q-page-${process.pid}`)
    process.once('exit', () => rmSync(outDir, { recursive: true, force: true }))
    await buildPage({ outDir })
    return outDir
  })()
  return built
}

export interface SceneOptions {
  /** The address of a proxy, through which the pages are opened. */
  readonly origin?: string
}

export async function openScene(browser: Browser, options: SceneOptions = {}): Promise<Scene> {
  const page = await pageFolder()
  const database = await testDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'q-page-test-'))
  const [tokenFile, tokensFile] = [join(folder, 'token'), join(folder, 'tokens')]
  const token = readOrMakeToken(tokenFile)
  const readToken = addNamedToken(tokensFile, { name: 'reader', scope: 'read' })
  const proxy = await proxyTo(database.url)
  const connection = connect(database.url, { purpose: 'pool' })
  const q = queue<typeof tasks>(database.url)
  const server = await startServer({
    databaseUrl: proxy.url,
    settings: { readOnly: false, badge: { text: 'test', color: null }, port: 0, tokensFile, ...options },
    tokenFile,
    version: '1.2.3',
    page: { folder: page },
  })
  const origin = options.origin ?? `http://127.0.0.1:${server.port}`
  const replicas: Replica[] = []
  const faults: string[] = []
  const pages: Page[] = []
  const gates: Gate[] = []
  return {
    origin,
    port: server.port,
    databaseUrl: database.url,
    streams: () => server.live.streams,
    token,
    readToken,
    store: createStore(connection.db),
    q,
    proxy,
    faults,
    gate() {
      const until = join(folder, `gate-${gates.length}`)
      const gate = { until, release: () => writeFileSync(until, '') }
      gates.push(gate)
      return gate
    },
    async replica(name, env) {
      const replica = await startReplica(name, database.url, env)
      replicas.push(replica)
      return replica
    },
    async open(path, device = {}) {
      const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        reducedMotion: 'reduce',
        ...device,
      })
      const opened = await context.newPage()
      pages.push(opened)
      opened.on('pageerror', (error) => faults.push(error.message))
      opened.on('console', (message) => {
        if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) faults.push(message.text())
      })
      await opened.goto(`${origin}${path}#token=${token}`)
      await opened.locator('.app').waitFor()
      return opened
    },
    async [Symbol.asyncDispose]() {
      for (const { release } of gates) release()
      await Promise.all(pages.map((one) => one.context().close()))
      await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')))
      await server.close()
      await q.close()
      await connection.close()
      await proxy.close()
      await database.drop()
      rmSync(folder, { recursive: true })
    },
  }
}
