/** A real HTTP server that receives webhooks of replicas. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface ReceivedReport {
  readonly id: string
  readonly kind: string
  readonly subject: string
  readonly payload: { readonly status?: string; readonly runId?: string; readonly became?: string }
}

export interface Receiver {
  readonly url: string
  readonly reports: readonly ReceivedReport[]
  /** How it answers; called when the report has been stored. Default: 204. */
  answer: (response: ServerResponse, report: ReceivedReport) => void
  statusesOf(runId: string): (string | undefined)[]
}

export const secret = { HOOK_SECRET: 'a secret of the test' }

export async function receiver(): Promise<Receiver> {
  const reports: ReceivedReport[] = []
  const server = createServer((request, response) => void receive(request, response))
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const report = (await json(request)) as ReceivedReport
    reports.push(report)
    there.answer(response, report)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const there: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    reports,
    answer: (response) => void response.writeHead(204).end(),
    statusesOf: (runId) =>
      reports
        .filter(({ kind, payload }) => kind === 'status' && payload.runId === runId)
        .map(({ payload }) => payload.status),
  }
  return there
}
