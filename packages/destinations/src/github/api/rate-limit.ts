/** Records for all replicas until when GitHub refuses requests: GitHub blocks accounts that keep sending them. */
import type { SenderContext } from '../../sender.ts'
import { NotDelivered, type Undelivered } from './not-delivered.ts'

const key = 'limited-until'

/** Throws while a rate limit is in force. */
export async function rateLimitOf({ state, nowMs }: Pick<SenderContext, 'state' | 'nowMs'>): Promise<void> {
  const untilMs = Number((await state.get(key)) ?? 0)
  const retryAfterMs = untilMs - nowMs()
  if (retryAfterMs <= 0) return
  const error = `GitHub limits the rate of requests until ${new Date(untilMs).toISOString()}.`
  throw new NotDelivered({ kind: 'postponed', error, retryAfterMs }, { blocksOthers: true })
}

export async function recordRateLimit(
  { state, nowMs }: Pick<SenderContext, 'state' | 'nowMs'>,
  result: Undelivered,
): Promise<void> {
  if (result.kind !== 'failed' || result.retryAfterMs === undefined) return
  await state.put(key, String(nowMs() + result.retryAfterMs))
}
