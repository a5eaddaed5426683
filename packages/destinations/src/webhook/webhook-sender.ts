/**
 * Sends each report as one signed HTTP POST. The reports of a batch are about different runs, so they are sent
 * concurrently, at most 16 at once over all batches. Batches are larger than that, because leasing and marking a batch
 * costs the database almost as much as sending one report. A report whose turn comes too late is postponed.
 *
 * A report is tried again after no answer, 408, 425, 429 and 5xx, and after 401 and 403, because sender and receiver may
 * have different secrets during a rotation. Every other error status means that the receiver will never accept it. The
 * secrets are read for each batch, so a rotation needs no restart.
 */
import type { Report } from '../report.ts'
import { readSecret, type SecretSource } from '../secret.ts'
import type { Sender, SenderContext, SendResult } from '../sender.ts'
import { createPoster, type PostAnswer } from './post.ts'
import { createRequestSlots } from './request-slots.ts'
import { addressProblem, readWebhookSettings } from './settings.ts'
import { webhookSignature } from './signature.ts'

const bodyBytesMax = 256 * 1024
const requestsMax = 16
/** The slowest request then ends before the call of `send` counts as failed. */
const turnMsMax = 8_000
const retryAfterMsMax = 3_600_000
const statusesWorthRetry = [401, 403, 408, 425, 429]

interface Access {
  readonly url: string
  readonly secrets: readonly string[]
}

interface Message {
  readonly id: string
  readonly kind: string
  readonly body: string
}

export function openWebhookSender(context: SenderContext): Sender {
  const settings = readWebhookSettings(context.settings)
  const poster = createPoster(requestsMax)
  const slots = createRequestSlots(requestsMax)

  async function access(): Promise<Access | { readonly missing: string }> {
    const url = 'address' in settings.url ? settings.url.address : context.env(settings.url.variable)
    const problem = addressProblem(url)
    if (url === undefined || problem !== undefined) return { missing: `The address ${problem}.` }
    const sources = [settings.secret, settings.previousSecret].filter((source) => source !== undefined)
    const secrets = await Promise.all(sources.map((source: SecretSource) => readSecret(source, context.env)))
    const missing = secrets.find((secret) => 'missing' in secret)
    if (missing !== undefined) return missing
    return { url, secrets: secrets.flatMap((secret) => ('value' in secret ? secret.value : [])) }
  }

  async function post({ url, secrets }: Access, { id, kind, body }: Message): Promise<SendResult> {
    if (Buffer.byteLength(body) > bodyBytesMax)
      return { kind: 'rejected', error: `The report has more than ${bodyBytesMax} bytes.` }
    const timestamp = Math.floor(context.nowMs() / 1_000)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'q',
      'x-q-delivery': id,
      'x-q-kind': kind,
      'x-q-timestamp': String(timestamp),
      'x-q-signature': webhookSignature(secrets, timestamp, body),
    }
    return resultOf(await poster.post({ url, headers, body, timeoutMs: settings.timeoutMs }), context.nowMs())
  }

  async function sendAll(messages: readonly Message[]): Promise<readonly SendResult[]> {
    const opened = await access()
    if ('missing' in opened) return messages.map(() => ({ kind: 'failed', error: opened.missing }))
    const untilMs = context.nowMs() + turnMsMax
    const postInTurn = (message: Message) =>
      slots.use(() => (context.nowMs() > untilMs ? Promise.resolve(tooSlow) : post(opened, message)))
    return Promise.all(messages.map(postInTurn))
  }

  return {
    send: (reports) => sendAll(reports.map(messageOf)),
    async test() {
      const id = `test.${context.nowMs()}`
      const body = JSON.stringify({ id, kind: 'test', destination: context.name })
      const [result] = await sendAll([{ id, kind: 'test', body }])
      return result ?? { kind: 'failed', error: 'Nothing was sent.' }
    },
    close() {
      poster.close()
      return Promise.resolve()
    },
  }
}

const tooSlow: SendResult = { kind: 'postponed', error: 'The receiver is slow.', retryAfterMs: 0 }

function messageOf({ id, kind, subject, createdAt, payload }: Report): Message {
  return { id, kind, body: JSON.stringify({ id, kind, subject, createdAt: createdAt.toISOString(), payload }) }
}

function resultOf(answer: PostAnswer, nowMs: number): SendResult {
  if ('error' in answer) return { kind: 'failed', error: answer.error }
  const { status, text } = answer
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  const error = `It answered HTTP ${status}${text.trim() === '' ? '' : `: ${text.trim()}`}`
  if (status >= 300 && status < 400)
    return { kind: 'rejected', error: `It answered HTTP ${status}: redirects are not followed.` }
  if (status < 500 && !statusesWorthRetry.includes(status)) return { kind: 'rejected', error }
  const retryAfterMs = retryAfterMsOf(answer.retryAfter, nowMs)
  return { kind: 'failed', error, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** Seconds, or a date. */
function retryAfterMsOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), retryAfterMsMax) : undefined
}
