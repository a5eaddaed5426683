/** Which names make a value a secret: `Q_HTTP_HIDE`. */
import { ExplainedError } from '@q/schema'
import { createSecrets, type Secrets } from './secrets.ts'

export const hideVariable = 'Q_HTTP_HIDE'
export const hideRule = 'must be names like password,api_key, or none'

/** Undefined: the text is wrong. `none` hides nothing. */
export function hiddenNames(text: string): readonly string[] | undefined {
  if (text === 'none') return []
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => /^[\w.-]*[a-z\d][\w.-]*$/i.test(name)) ? names : undefined
}

/** For a program that reads no other setting of the server. */
export function secretsOf(env: NodeJS.ProcessEnv): Secrets {
  const text = env[hideVariable] ?? ''
  if (text === '') return createSecrets()
  const names = hiddenNames(text)
  if (names !== undefined) return createSecrets(names)
  throw new ExplainedError({
    code: 'CONFIG_INVALID',
    what: `A setting is wrong: ${hideVariable}=${text} ${hideRule}.`,
    why: 'Nothing was shown, because it is unknown which values are secrets.',
    fix: `Correct ${hideVariable}, or unset it for its default.`,
  })
}
