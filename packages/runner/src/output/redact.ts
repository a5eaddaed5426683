/**
 * Removes secrets from text that leaves this program: what a pattern recognises (@q/schema), and the values of environment
 * variables that are named like secrets, with the passwords of URLs in any variable.
 */
import { redactPatterns } from '@q/schema'

export type Redact = (text: string) => string

export function createRedact(env: NodeJS.ProcessEnv): Redact {
  const secrets = secretsOf(env)
  return (text) => {
    let clean = redactPatterns(text)
    for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, '***')
    return clean
  }
}

const secretName = /password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|credential/i
/** These name a place, not a secret. */
const placeName = /_(file|path|dir|url|name|id)$/i
/** A shorter value, or one of these, would remove words of ordinary texts. */
const secretCharsMin = 8
const commonWords = new Set(['password', 'postgres', 'postgresql', 'changeme'])

function secretsOf(env: NodeJS.ProcessEnv): string[] {
  const found = Object.entries(env).flatMap(([name, value = '']) => {
    if (secretName.test(name) && !placeName.test(name)) return [value]
    return passwordsOf(value)
  })
  const long = found.filter((secret) => secret.length >= secretCharsMin && !commonWords.has(secret.toLowerCase()))
  // The longest first: one may be a part of another.
  return [...new Set(long)].toSorted((one, other) => other.length - one.length)
}

/** Of a URL: as it is written there, and as a driver sends it. */
function passwordsOf(value: string): string[] {
  const password = value.includes('://') ? URL.parse(value)?.password : undefined
  if (password === undefined || password === '') return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

/** By the environment that this process or thread was started with. */
export const redact: Redact = createRedact(process.env)
