/** The settings of a webhook, and every mistake in them. */
import { isAbsolute } from 'node:path'
import type { SecretSource } from '../secret.ts'
import type { Settings } from '../sender.ts'

export interface WebhookSettings {
  /** The address, or the variable that holds it if the address itself is a secret. */
  readonly url: { readonly address: string } | { readonly variable: string }
  readonly secret: SecretSource
  /** The second secret during a rotation: reports are signed with both. */
  readonly previousSecret: SecretSource | undefined
  readonly timeoutMs: number
}

const known = [
  'url',
  'urlVariable',
  'secretVariable',
  'secretFile',
  'previousSecretVariable',
  'previousSecretFile',
  'timeoutMs',
]
const timeoutMs = { usual: 10_000, min: 100, max: 20_000 } as const

export function webhookProblems(settings: Settings): readonly string[] {
  const problems: string[] = []
  for (const name of Object.keys(settings).filter((key) => !known.includes(key)))
    problems.push(`"${name}" is not a setting of a webhook; it has ${known.join(', ')}.`)
  problems.push(...urlProblems(settings))
  if (settings['secretVariable'] === undefined && settings['secretFile'] === undefined)
    problems.push('"secretVariable" or "secretFile" is missing: reports are signed.')
  for (const name of ['secret', 'previousSecret']) problems.push(...secretProblems(settings, name))
  const given = settings['timeoutMs']
  if (given !== undefined && !isWhole(given, timeoutMs.min, timeoutMs.max))
    problems.push(`"timeoutMs" must be a whole number from ${timeoutMs.min} to ${timeoutMs.max}.`)
  return problems
}

/** Reads settings that have passed the check. */
export function readWebhookSettings(settings: Settings): WebhookSettings {
  const text = (name: string) => settings[name] as string | undefined
  const url = text('url')
  const previous = { variable: text('previousSecretVariable'), file: text('previousSecretFile') }
  return {
    url: url === undefined ? { variable: text('urlVariable') ?? '' } : { address: url },
    secret: { variable: text('secretVariable'), file: text('secretFile') },
    previousSecret: previous.variable === undefined && previous.file === undefined ? undefined : previous,
    timeoutMs: (settings['timeoutMs'] as number | undefined) ?? timeoutMs.usual,
  }
}

/** Returns the problem of an address, as the end of a sentence; undefined: it is valid. */
export function addressProblem(address: unknown): string | undefined {
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (url === null) return 'is not an address such as "https://example.com/hooks/q"'
  if (url.username !== '' || url.password !== '') return 'contains a user or password; receivers verify the signature'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return undefined
  return 'must begin with https: (http: is allowed on this machine only)'
}

function urlProblems({ url, urlVariable }: Settings): string[] {
  if ((url === undefined) === (urlVariable === undefined)) return ['Set "url" or "urlVariable", one of them.']
  if (urlVariable !== undefined) return isVariable(urlVariable) ? [] : ['"urlVariable" must name a variable.']
  const problem = addressProblem(url)
  return problem === undefined ? [] : [`"url" ${problem}.`]
}

function secretProblems(settings: Settings, name: string): string[] {
  const [variable, file] = [settings[`${name}Variable`], settings[`${name}File`]]
  const problems: string[] = []
  if (variable !== undefined && file !== undefined) problems.push(`Set "${name}Variable" or "${name}File", not both.`)
  if (variable !== undefined && !isVariable(variable))
    problems.push(`"${name}Variable" must be the name of an environment variable, not the secret itself.`)
  if (file !== undefined && !(typeof file === 'string' && isAbsolute(file)))
    problems.push(`"${name}File" must be an absolute path.`)
  return problems
}

function isVariable(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Z_][A-Z\d_]*$/i.test(value)
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
