/**
 * One process of the memory server; the first call starts it. The server loses updates of concurrent calls, so only one
 * call is ever in flight: a process that did not answer in time is killed before the next call, because it may still be
 * writing. A later call restarts a process that died; after consecutive failures it waits for a pause first.
 */
import { MemoryFailure } from './failure.ts'
import { loadMcp, type Mcp } from './mcp.ts'

export interface McpConnection {
  /** Calls a tool and returns the structured part of its answer. Calls must not overlap. */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Kills the process at once: the call in flight and all later calls fail. */
  close(): Promise<void>
}

interface McpConnectionOptions {
  readonly file: string
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly nowMs: () => number
  readonly callMsMax?: number
  /** Explains an error that the server returned. */
  readonly explain: (error: string) => Promise<string>
}

/** A line that is not JSON stays in the file until a person repairs it. */
const errorPauseMs = 60_000
const answerMsMax = 10_000
const startMsMax = 20_000
const pauseMsMin = 1_000
const pauseMsMax = 60_000
const closedMessage = 'The destination is closed.'
/** An answer contains its result twice: as text and as data. */
const answerBytesMax = 64 * 1024 * 1024

export async function openConnection(options: McpConnectionOptions): Promise<McpConnection> {
  const mcp = await loadMcp()
  const { nowMs, explain } = options
  let server: ServerProcess | undefined
  let closed = false
  let failures = { inARow: 0, at: 0, last: '' }

  async function answering(): Promise<ServerProcess> {
    if (closed) throw new MemoryFailure(closedMessage)
    if (server?.isAlive() === true) return server
    const retryAfterMs = failures.at + pauseAfter(failures.inARow) - nowMs()
    if (retryAfterMs > 0) throw new MemoryFailure(failures.last, { retryAfterMs, notTried: true })
    server = undefined
    server = await startServer(mcp, options)
    if (!closed) return server
    await server.end()
    throw new MemoryFailure(closedMessage)
  }

  async function failed(error: unknown): Promise<MemoryFailure> {
    const message = `The memory server failed: ${describe(error, server)}`
    await server?.end()
    server = undefined
    failures = { inARow: failures.inARow + 1, at: nowMs(), last: message }
    return new MemoryFailure(message, { cause: error, retryAfterMs: pauseAfter(failures.inARow) })
  }

  return {
    async call(tool, args) {
      try {
        const { client } = await answering()
        const answer = await client.callTool(
          { name: tool, arguments: args },
          { timeout: options.callMsMax ?? answerMsMax },
        )
        failures = { inARow: 0, at: 0, last: '' }
        if (answer.isError !== true) return answer.structuredContent
        const error = await explain(textOf(answer))
        throw new MemoryFailure(`The memory server refused ${tool}: ${error}`, { retryAfterMs: errorPauseMs })
      } catch (error) {
        throw error instanceof MemoryFailure ? error : await failed(error)
      }
    },
    async close() {
      closed = true
      await server?.end()
    },
  }
}

interface ServerProcess {
  readonly client: InstanceType<Mcp['Client']>
  isAlive(): boolean
  /** The end of its output. */
  readonly printed: string
  end(): Promise<void>
}

async function startServer(
  { Client, StdioClientTransport }: Mcp,
  options: McpConnectionOptions,
): Promise<ServerProcess> {
  const [program = '', ...args] = options.command
  const transport = new StdioClientTransport({
    command: program,
    args,
    // The transport passes PATH, HOME and similar variables to the process, and no others.
    env: { MEMORY_FILE_PATH: options.file },
    stderr: 'pipe',
    maxBufferSize: answerBytesMax,
  })
  const client = new Client({ name: 'q', version: '0.1.0' })
  const state = { printed: '' }
  transport.stderr?.on('data', (chunk: Buffer) => {
    state.printed = `${state.printed}${chunk.toString()}`.slice(-500)
  })
  try {
    await client.connect(transport, { timeout: startMsMax })
  } catch (error) {
    await client.close()
    throw new Error(describe(error, state), { cause: error })
  }
  return Object.assign(state, { client, isAlive: () => transport.pid !== null, end: () => client.close() })
}

function pauseAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(pauseMsMin * 2 ** (failures - 1), pauseMsMax)
}

function describe(error: unknown, server: { readonly printed: string } | undefined): string {
  const message = error instanceof Error ? error.message : String(error)
  const printed = server?.printed.trim() ?? ''
  return printed === '' ? message : `${message}; it printed: ${printed}`
}

function textOf({ content }: { readonly content: readonly { readonly type: string }[] }): string {
  return content.map((part) => ('text' in part ? String(part.text) : '')).join(' ')
}
