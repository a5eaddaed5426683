/** The language server of TypeScript, as an editor talks to it: one file is opened, and asked about at one place. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { workspace } from '../workspace.ts'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly result?: unknown
}

/** The completions at `|` in the text of that file. */
export async function completionsAt(path: string, marked: string): Promise<string[]> {
  const text = marked.replace('|', '')
  const before = marked.slice(0, marked.indexOf('|')).split('\n')
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
  const textDocument = { uri: pathToFileURL(path).href }
  await using server = startServer()
  await server.ask('initialize', { processId: process.pid, rootUri: null, capabilities: {} })
  server.tell('initialized', {})
  server.tell('textDocument/didOpen', { textDocument: { ...textDocument, languageId: 'typescript', version: 1, text } })
  const answer = await server.ask('textDocument/completion', { textDocument, position })
  const items = (answer as { items?: unknown } | null)?.items ?? answer ?? []
  return (items as { label: string }[]).map(({ label }) => label.replaceAll(/^['"]|['"]$/g, ''))
}

function startServer() {
  const server = spawn(join(workspace, 'node_modules/.bin/tsc'), ['--lsp', '--stdio'], {
    cwd: workspace,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = once(server, 'close')
  const asked = new Map<number, (answer: unknown) => void>()
  let received = Buffer.alloc(0)
  server.stdout.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (let message = next(); message !== undefined; message = next()) {
      if (message.method === undefined) asked.get(Number(message.id))?.(message.result)
      // It asks too: for settings, and for leave to register things.
      else if (message.id !== undefined) send({ id: message.id, result: null })
    }
  })

  function next(): Message | undefined {
    const header = /^Content-Length: (\d+)\r\n(?:.*\r\n)*?\r\n/.exec(received.toString('latin1'))
    const [head = '', length = '0'] = header ?? []
    if (header === null || received.length < head.length + Number(length)) return undefined
    const body = received.subarray(head.length, head.length + Number(length))
    received = received.subarray(head.length + Number(length))
    return JSON.parse(body.toString('utf8')) as Message
  }

  function send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  return {
    tell: (method: string, params: object) => send({ method, params }),
    async ask(method: string, params: object): Promise<unknown> {
      const id = asked.size + 1
      const { promise, resolve } = Promise.withResolvers<unknown>()
      asked.set(id, resolve)
      send({ id, method, params })
      const gone = ended.then(() => Promise.reject(new Error('the language server ended')))
      return Promise.race([promise, gone])
    },
    async [Symbol.asyncDispose]() {
      server.kill()
      await ended
    },
  }
}
