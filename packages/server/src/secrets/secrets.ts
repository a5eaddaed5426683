/**
 * Hides values in users' JSON whose member name suggests a secret, at any depth. Numbers, booleans and null stay:
 * `maxTokens: 512` is not a secret. In JSON text, numbers keep their digits.
 *
 * q stores values of at most 64 levels, but a program may write deeper ones with SQL. What lies too deep to be searched
 * without overflowing the stack is hidden.
 */
import { isDeeperThan } from '../json-depth.ts'

export interface Secrets {
  /** Hides secrets in JSON text; returns text without a secret unchanged. */
  inText(text: string): string
  inValue<T>(value: T): T
  /** Hides the value of a condition on the payload that names a secret: `user.password~x`, `user={"password": "x"}`. */
  inCondition(text: string): string
  /** Parts of the names of secrets, in lower case without punctuation. */
  readonly parts: readonly string[]
}

export const hidden = '[hidden]'

const depthMax = 500

const secretNames: readonly string[] = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'apikey',
  'accesskey',
  'privatekey',
  'credential',
  'authorization',
  'cookie',
]

/** `names`: parts of member names, compared without case and punctuation: `apikey` hides `api_key` and `apiKeys`. */
export function createSecrets(names: readonly string[] = secretNames): Secrets {
  const parts = names.map(plain)
  const isSecretName = (member: string) => parts.some((part) => plain(member).includes(part))
  const isSecret = (member: string, value: unknown) =>
    (typeof value === 'string' || (typeof value === 'object' && value !== null)) && isSecretName(member)
  const inValue = (value: unknown, depth = 0): unknown => {
    if (depth > depthMax && typeof value === 'object' && value !== null) return hidden
    if (Array.isArray(value)) return value.map((one) => inValue(one, depth + 1))
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
    const members = Object.entries(value)
    return Object.fromEntries(
      members.map(([member, one]) => [member, isSecret(member, one) ? hidden : inValue(one, depth + 1)] as const),
    )
  }
  return {
    parts,
    inCondition(text) {
      const [, path = '', operator = '', value = ''] = /^([^=~]*)([=~])([^]*)$/.exec(text) ?? []
      // The value can be JSON, or a part of it, with names of its own.
      return [...path.split('.'), value].some(isSecretName) ? `${path}${operator}${hidden}` : text
    },
    inValue: <T>(value: T) => inValue(value) as T,
    inText(text) {
      const searched = plain(text)
      if (!parts.some((part) => searched.includes(part))) return text
      if (isDeeperThan(text, depthMax)) return JSON.stringify(hidden)
      let isChanged = false
      const value: unknown = JSON.parse(text, (member, one: unknown, { source }: { source?: string } = {}) => {
        if (isSecret(member, one)) {
          isChanged = true
          return hidden
        }
        return typeof one === 'number' && source !== undefined ? rawJSON(source) : one
      })
      return isChanged ? JSON.stringify(value) : text
    },
  }
}

/** Node supports this; TypeScript's library does not declare it yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z\d]/g, '')
}
