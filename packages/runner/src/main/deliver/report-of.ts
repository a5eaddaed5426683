/** A leased delivery as the report that a sender gets. Passwords in texts are removed: an error of a task may quote a URL. */
import type { LeasedDelivery } from '@q/store'
import { redact } from '../../output/redact.ts'
import type { Report } from './load-destinations.ts'

export function reportOf({ id, revision, kind, orderKey, createdAt, attempt, payload }: LeasedDelivery): Report {
  const clean = JSON.parse(redact(JSON.stringify(payload))) as unknown
  return { id: `${id}.${revision}`, kind, subject: orderKey, createdAt, attempt, payload: clean } as Report
}
