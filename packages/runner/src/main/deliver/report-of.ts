/**
 * Converts a leased delivery to the report for the sender. Secrets are removed from its texts: an error of a task may
 * quote them.
 */
import type { LeasedDelivery } from '@q/store'
import { redact } from '../../output/redact.ts'
import type { Report } from './load-destinations.ts'

export function reportOf({ id, revision, kind, orderKey, createdAt, attempt, payload }: LeasedDelivery): Report {
  const clean: unknown = JSON.parse(JSON.stringify(payload), (_, value: unknown) =>
    typeof value === 'string' ? redact(value) : value,
  )
  return { id: `${id}.${revision}`, kind, subject: orderKey, createdAt, attempt, payload: clean } as Report
}
