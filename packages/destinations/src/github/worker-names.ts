/** Names workers in comments: by their sanitised id or, in public repositories, by a number derived from it. */
import { createHmac } from 'node:crypto'
import { sanitizedId } from '../sanitized-id.ts'
import { readSecret } from '../secret.ts'
import type { SenderContext } from '../sender.ts'
import { NotDelivered } from './api/not-delivered.ts'
import type { GithubSettings } from './settings.ts'

/** Returns the function that names workers. Rejects if ids have to be anonymised and the secret is missing. */
export async function workerNames(
  { workerSecretVariable: variable, workerSecretFile: file }: GithubSettings,
  env: SenderContext['env'],
): Promise<(id: string) => string> {
  if (variable === undefined && file === undefined) return sanitizedId
  const secret = await readSecret({ variable, file }, env)
  if ('missing' in secret)
    throw new NotDelivered({ kind: 'failed', error: `Worker ids cannot be anonymised. ${secret.missing}` })
  return (id) => `worker-${createHmac('sha256', secret.value).update(id).digest('hex').slice(0, 8)}`
}
