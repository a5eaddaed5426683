/**
 * Signs a webhook request: HMAC-SHA256 over `timestamp.body`. The signature covers the timestamp, so that a receiver
 * can refuse an old request that an attacker replays. During a rotation there is one signature per secret.
 */
import { createHmac } from 'node:crypto'

export function webhookSignature(secrets: readonly string[], timestamp: number, body: string): string {
  return secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.${body}`)}`).join(', ')
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}
