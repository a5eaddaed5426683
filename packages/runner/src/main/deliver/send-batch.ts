/**
 * Sends one leased batch and records the result of each report. A sender that exceeds the time limit counts as failed:
 * its reports are tried again, and nothing else waits for it. If the replica dies between sending and recording, the
 * reports are sent again under the same ids.
 */
import type { DeliveryMark, DeliveryOutcome, LeasedDelivery, MarkedDelivery, Store } from '@q/store'
import { errorMessage } from '../../output/error-message.ts'
import { redact } from '../../output/redact.ts'
import type { Observe } from '../events.ts'
import { within } from '../loop.ts'
import type { Sender, SendResult } from './load-destinations.ts'
import { reportOf } from './report-of.ts'

export interface BatchDeps {
  readonly store: Pick<Store, 'markDeliveries'>
  readonly observe: Observe
  readonly sender: Pick<Sender, 'send'>
  readonly destination: string
  /** Required to mark the reports. */
  readonly holder: string
  readonly sendMsMax?: number
}

export interface BatchAnswer {
  /** Whether the destination answered at least one report, if only to reject it, or none was tried. */
  readonly reached: boolean
  /** Whether the sender did not return: it must not be used again. */
  readonly hung: boolean
}

const sendMsMaxUsual = 30_000

export async function sendBatch(deps: BatchDeps, leased: readonly LeasedDelivery[]): Promise<BatchAnswer> {
  const { store, sender, holder, sendMsMax = sendMsMaxUsual } = deps
  const sending = sender.send(leased.map(reportOf)).catch((error: unknown) => leased.map(() => failed(error)))
  const results = await within(sendMsMax, sending)
  const marks = leased.map(({ id, revision }, index): DeliveryMark => {
    const result = results === undefined ? hung(sendMsMax) : (results[index] ?? failed('It returned no result.'))
    return { id, revision, outcome: redacted(result) }
  })
  const marked = await store.markDeliveries(holder, marks)
  observeMarks(deps, marks, marked)
  const kinds = new Set(marks.map(({ outcome }) => outcome.kind))
  return {
    reached: !kinds.has('failed') || kinds.has('delivered') || kinds.has('rejected'),
    hung: results === undefined,
  }
}

function observeMarks(
  { observe, destination }: BatchDeps,
  marks: readonly DeliveryMark[],
  marked: readonly MarkedDelivery[],
): void {
  const becameOf = new Map(marked.map(({ id, became }) => [id, became]))
  const errorsOf = (became: MarkedDelivery['became']) =>
    marks.flatMap(({ id, outcome }) =>
      becameOf.get(id) === became && (outcome.kind === 'failed' || outcome.kind === 'rejected')
        ? { id, error: outcome.error }
        : [],
    )
  const sent = marked.filter(({ became }) => became === 'delivered').length
  if (sent > 0) observe({ type: 'deliveries-sent', destination, reports: sent })
  const [retried, givenUp] = [errorsOf('retried'), errorsOf('given-up')]
  if (retried[0] !== undefined)
    observe({ type: 'deliveries-failed', destination, reports: retried.length, error: retried[0].error })
  if (givenUp[0] !== undefined)
    observe({ type: 'deliveries-given-up', destination, ids: givenUp.map(({ id }) => id), error: givenUp[0].error })
}

function failed(error: unknown): SendResult {
  return { kind: 'failed', error: errorMessage(error) }
}

function hung(ms: number): SendResult {
  return { kind: 'failed', error: `It did not finish within ${ms / 1_000} s.` }
}

function redacted(result: SendResult): DeliveryOutcome {
  return result.kind === 'delivered' ? result : { ...result, error: redact(result.error) }
}
