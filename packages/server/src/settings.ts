/**
 * The settings of the server, read once from the environment. All problems are reported together, before the server
 * listens.
 */
import { ExplainedError } from '@q/schema'
import type { MetricsAddress } from './metrics/metrics-port.ts'
import { hiddenNames, hideRule, hideVariable } from './secrets/secrets-of.ts'

export interface HttpSettings {
  /** Undefined: 127.0.0.1 and ::1. */
  readonly address?: string
  /** Undefined: the first free one from 7780. */
  readonly port?: number
  /** The address that people use, if there is a proxy. */
  readonly origin?: string
  /** Set if a person chose the token, or named tokens. */
  readonly tokenFile?: string
  readonly tokensFile?: string
  /** Parts of the names of members whose values are hidden. Undefined: the default ones. */
  readonly hide?: readonly string[]
  /** The separate address for metrics and probes. */
  readonly metrics?: MetricsAddress
  readonly readOnly: boolean
  readonly badge: { readonly text: string; readonly color: string | null } | null
}

export function readHttpSettings(env: NodeJS.ProcessEnv): HttpSettings {
  const problems: string[] = []
  const read = <T>(variable: string, parse: (text: string) => T | undefined, rule: string): T | undefined => {
    const text = env[variable] ?? ''
    if (text === '') return undefined
    const value = parse(text)
    if (value === undefined) problems.push(`${variable}=${text}: ${rule}`)
    return value
  }
  const port = read('Q_HTTP_PORT', wholePort, 'must be a port from 0 to 65535')
  const address = read('Q_HTTP_ADDRESS', plainAddress, 'must be an IP address or a host name, without a port')
  const origin = read('Q_HTTP_ORIGIN', httpOrigin, 'must be like https://q.example.com, without a path')
  const metrics = read('Q_METRICS_ADDRESS', hostAndPort, 'must be like 127.0.0.1:9464 or [::]:9464')
  const readOnly = read('Q_HTTP_READ_ONLY', zeroOrOne, 'must be 1 or 0')
  const badge = read(
    'Q_HTTP_BADGE',
    badgeOf,
    'must be a name of up to 40 characters, and a colour like #b3261e or none',
  )
  const hide = read(hideVariable, hiddenNames, hideRule)
  if (problems.length > 0) throw wrong(problems)
  const settings = {
    ...(port !== undefined && { port }),
    ...(address !== undefined && !isLoopback(address) && { address }),
    ...(origin !== undefined && { origin }),
    ...(metrics !== undefined && { metrics }),
    ...(env['Q_HTTP_TOKEN_FILE'] && { tokenFile: env['Q_HTTP_TOKEN_FILE'] }),
    ...(env['Q_HTTP_TOKENS_FILE'] && { tokensFile: env['Q_HTTP_TOKENS_FILE'] }),
    ...(hide !== undefined && { hide }),
    readOnly: readOnly ?? false,
    badge: badge ?? null,
  }
  requireOwnToken(settings)
  return settings
}

/** Requires a token that a person has chosen: a generated one is not known to the person who exposes the server. */
function requireOwnToken({ address, tokenFile, tokensFile }: Omit<HttpSettings, 'readOnly' | 'badge'>): void {
  if (address === undefined || tokenFile !== undefined || tokensFile !== undefined) return
  throw tokenMissing(address, 'Neither Q_HTTP_TOKEN_FILE nor Q_HTTP_TOKENS_FILE is set.')
}

export function tokenMissing(address: string, why: string): ExplainedError {
  return new ExplainedError({
    code: 'HTTP_TOKEN_MISSING',
    what: `The server does not listen on ${address} with a generated token.`,
    why: `Others can reach that address, and its owner did not choose the token that would protect it: ${why}`,
    fix: 'Write a token with `Q_HTTP_TOKEN_FILE=… q token --replace`, or name tokens with Q_HTTP_TOKENS_FILE, or leave Q_HTTP_ADDRESS out: then only this machine can reach it.',
  })
}

function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address)
}

function wholePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined
}

function plainAddress(text: string): string | undefined {
  return /^[\da-z.:-]{1,253}$/i.test(text) ? text : undefined
}

/** An IPv6 address is in brackets, as in URLs. */
function hostAndPort(text: string): MetricsAddress | undefined {
  const [, ipv6, name, portText = ''] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text) ?? []
  const [address, port] = [plainAddress(ipv6 ?? name ?? ''), wholePort(portText)]
  return address === undefined || port === undefined ? undefined : { address, port }
}

function httpOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && /^\/?$/.test(url.pathname + url.search)
    ? url.origin
    : undefined
}

function zeroOrOne(text: string): boolean | undefined {
  return text === '1' ? true : text === '0' ? false : undefined
}

function badgeOf(text: string): HttpSettings['badge'] | undefined {
  const [, name, color = null] = /^(.{1,40}?)(?:\s+(#[\da-f]{6}))?$/i.exec(text.trim()) ?? []
  return name === undefined ? undefined : { text: name, color }
}

function wrong(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'CONFIG_INVALID',
    what: `${problems.length === 1 ? 'A setting is' : `${problems.length} settings are`} wrong:\n${problems.map((problem) => `    ${problem}`).join('\n')}`,
    why: 'The environment of this process says so; nothing was started.',
    fix: 'Correct the variables above, or unset them for their defaults.',
  })
}
