/**
 * Removes secrets from text that leaves this program: matches of known patterns (@q/schema), values of environment
 * variables whose name suggests a secret, and passwords of URLs in any variable.
 */
import { isSecretName, redactPatterns } from '@q/schema'

export type Redact = (text: string) => string

export function createRedact(env: NodeJS.ProcessEnv): Redact {
  const secrets = secretsOf(env)
  return (text) => {
    let clean = redactPatterns(text)
    for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, '***')
    return clean
  }
}

/**
 * The same for the names and texts within JSON, one by one, and for members whose name suggests a secret. Numbers stay: a
 * setting like TOKEN_EXPIRY_MS has a value that other numbers share.
 */
export function createRedactJson(clean: Redact): Redact {
  const cleanMember = (name: string, value: unknown): unknown => {
    if (typeof value === 'string') return isSecretName(name) ? '***' : clean(value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([member, own]): [string, unknown] => [clean(member), own]))
  }
  return (json) => JSON.stringify(JSON.parse(json, cleanMember))
}

const secretName = /password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|credential/i
/** These name a place, not a secret. */
const placeName = /_(file|path|dir|url|name|id)$/i
/** Shorter values, and these ones, also occur in ordinary text. */
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

/** The password of a URL, in its encoded and its decoded form. */
function passwordsOf(value: string): string[] {
  const password = value.includes('://') ? URL.parse(value)?.password : undefined
  if (password === undefined || password === '') return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

/** Uses the environment that this process or thread was started with. */
export const redact: Redact = createRedact(process.env)
export const redactJson: Redact = createRedactJson(redact)
