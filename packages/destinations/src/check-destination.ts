/**
 * Every mistake in the declaration of a destination, whether it comes from a command, a file or an HTTP request. Loads
 * no sender.
 *
 * Settings are stored and shown, so they hold no secrets: a value that looks like one is refused, whatever the setting
 * is called.
 */
import { reportKinds, taskStates, type ReportKind } from '@q/schema'
import { destinationKinds } from './kinds.ts'
import type { Settings } from './sender.ts'

export interface DestinationDeclaration {
  readonly name: string
  readonly kind: string
  readonly reports: readonly ReportKind[]
  readonly tasks?: readonly string[]
  readonly statuses?: readonly string[]
  readonly settings?: Settings
  readonly everyMs?: number
}

const known = ['name', 'kind', 'reports', 'tasks', 'statuses', 'settings', 'everyMs']
const everyMs = { min: 1_000, max: 86_400_000 } as const

/** Returns one sentence per mistake. If there is none, the value is a `DestinationDeclaration`. */
export function destinationProblems(given: unknown): readonly string[] {
  if (!isRecord(given)) return ['A destination is an object with name, kind, reports and settings.']
  const { name, kind, reports, tasks, statuses, settings = {}, everyMs: every } = given
  const problems: string[] = []
  for (const key of Object.keys(given).filter((one) => !known.includes(one)))
    problems.push(`"${key}" is not known; a destination has ${known.join(', ')}.`)
  if (typeof name !== 'string' || !/^[\w][\w.-]{0,99}$/.test(name))
    problems.push('"name" must be 1 to 100 letters, digits, ".", "_" and "-".')
  problems.push(...listProblems('reports', reports, reportKinds))
  if (Array.isArray(reports) && reports.length === 0) problems.push('"reports" is empty: it would receive nothing.')
  if (tasks !== undefined) problems.push(...listProblems('tasks', tasks))
  if (statuses !== undefined) problems.push(...listProblems('statuses', statuses, [...taskStates, 'PAUSED']))
  if (every !== undefined && !(Number.isInteger(every) && Number(every) >= everyMs.min && Number(every) <= everyMs.max))
    problems.push(`"everyMs" must be a whole number from ${everyMs.min} to ${everyMs.max}.`)
  if (!isRecord(settings)) return [...problems, '"settings" must be an object.']
  return [...problems, ...kindProblems(kind, settings), ...literalSecrets(settings)]
}

/**
 * The settings that an HTTP request must not declare: an API token must neither start programs nor read secrets of
 * replicas.
 */
export function remoteProblems({ kind, settings = {} }: Pick<DestinationDeclaration, 'kind' | 'settings'>): string[] {
  const local = Object.hasOwn(destinationKinds, kind) ? (destinationKinds[kind]?.localSettings ?? []) : []
  return local
    .filter((name) => Object.hasOwn(settings, name))
    .map((name) => `"${name}" cannot be set over HTTP: use Q_DESTINATIONS_FILE or q destinations add <file>.`)
}

function kindProblems(kind: unknown, settings: Settings): readonly string[] {
  const found = typeof kind === 'string' && Object.hasOwn(destinationKinds, kind) ? destinationKinds[kind] : undefined
  if (found === undefined) return [`"kind" must be one of ${Object.keys(destinationKinds).join(', ')}.`]
  return found.problemsOf(settings)
}

function listProblems(name: string, given: unknown, allowed?: readonly string[]): string[] {
  if (!Array.isArray(given) || given.some((value) => typeof value !== 'string'))
    return [`"${name}" must be a list of texts.`]
  const unknown = allowed === undefined ? [] : (given as string[]).filter((value) => !allowed.includes(value))
  return unknown.map((value) => `"${name}" has "${value}"; it may have ${allowed?.join(', ')}.`)
}

const looksSecret = [
  /\b(ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abpr])[_-]\w{10,}/,
  /\bsk[-_]\w{16,}/,
  /\bAKIA[A-Z\d]{12,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^Bearer\s+\S/i,
  /\b\w+:\/\/[^\s/:@]+:[^\s/@]+@/,
]

function literalSecrets(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) =>
    typeof value === 'string' && looksSecret.some((pattern) => pattern.test(value))
      ? [`"${name}" looks like a secret: put it into an environment variable or a file, and name that.`]
      : [],
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
