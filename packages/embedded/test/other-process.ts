/** Another process that uses the server (fixtures/user-process.ts), seen from the test. */
import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Report {
  readonly url: string
  readonly how: string
  readonly dataDir: string
  readonly notices: string[]
}

export interface OtherProcess extends Report {
  readonly child: ChildProcess
  leave(): Promise<string>
  kill(): Promise<void>
}

export const USER_PROCESS: string = fileURLToPath(new URL('./fixtures/user-process.ts', import.meta.url))

/** Resolves when it is on the server. */
export async function otherProcess(
  options: object,
  { script = USER_PROCESS, ...how }: ForkOptions & { script?: string } = {},
): Promise<OtherProcess> {
  const child = fork(script, [JSON.stringify(options)], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...how,
  })
  const report = await next<Report & { failed?: string }>(child)
  if (report.failed !== undefined) throw new Error(report.failed)
  return {
    ...report,
    child,
    async leave() {
      child.send('leave')
      const { left } = await next<{ left: string }>(child)
      if (child.exitCode === null) await once(child, 'exit')
      return left
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** The next message, or the news that there will be none. */
async function next<T>(child: ChildProcess): Promise<T> {
  const gone = new AbortController()
  const ended = once(child, 'exit', { signal: gone.signal }).then(([code]) => {
    throw new Error(`the other process ended with ${String(code)} before it said anything`)
  })
  const said = once(child, 'message', { signal: gone.signal }).then(([message]) => message as T)
  try {
    return await Promise.race([said, ended])
  } finally {
    gone.abort()
    await Promise.allSettled([said, ended])
  }
}
