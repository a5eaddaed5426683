/** The settings of a GitHub destination, as users write them. Every mistake is reported, not only the first. */
import { isAbsolute } from 'node:path'
import type { Settings } from '../sender.ts'

export interface GithubSettings {
  /** A JSON pointer to the issue in the payload of runs. The outbox reads the value. */
  readonly issue: string
  /**
   * At least one `owner/name`: q never writes to another repository. An issue given as a plain number is in the first
   * of them.
   */
  readonly repositories: readonly string[]
  readonly tokenVariable?: string
  readonly tokenFile?: string
  readonly apiUrl?: string
  /** Whether the labels of an issue follow the status of its run. */
  readonly labels: boolean
  /** The GitHub user to assign to an issue while its run is RUNNING. */
  readonly assignee?: string
  /** The issue, in the first repository, for alerts and for the heartbeat table of many workers. */
  readonly heartbeatIssue?: number
  readonly workerSecretVariable?: string
  readonly workerSecretFile?: string
}

/** Each setting with its check. A check returns a description of valid values, or undefined if the value is valid. */
const checks: Readonly<Record<keyof GithubSettings, (value: unknown) => string | undefined>> = {
  issue: (value) => (matches(value, /^(\/[^/]+)+$/) ? undefined : 'a JSON pointer into the payload, such as "/issue"'),
  repositories: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && isRepository(name))
      ? undefined
      : 'a list of repositories, such as ["acme/shop"]',
  tokenVariable: variableName,
  tokenFile: absolutePath,
  apiUrl: (value) => (isApiUrl(value) ? undefined : 'an https address, such as "https://github.example.com/api/v3"'),
  labels: (value) => (typeof value === 'boolean' ? undefined : 'true or false'),
  assignee: (value) => (matches(value, /^[a-z\d](?:[a-z\d-]{0,38})$/i) ? undefined : 'the name of a GitHub user'),
  heartbeatIssue: (value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? undefined : 'the number of an issue of the first repository',
  workerSecretVariable: variableName,
  workerSecretFile: absolutePath,
}

export function githubProblemsOf(settings: Settings): readonly string[] {
  const problems: string[] = []
  for (const [name, value] of Object.entries(settings)) {
    const expected = isSetting(name) ? checks[name](value) : undefined
    if (name === 'token')
      problems.push(
        '"token" must not be here: "tokenVariable" names an environment variable with it, "tokenFile" a file.',
      )
    else if (!isSetting(name))
      problems.push(`"${name}" is not a setting of a GitHub destination; it has ${Object.keys(checks).join(', ')}.`)
    else if (expected !== undefined) problems.push(`"${name}" must be ${expected}.`)
  }
  for (const name of ['issue', 'repositories']) if (settings[name] === undefined) problems.push(`"${name}" is missing.`)
  if (settings['tokenVariable'] === undefined && settings['tokenFile'] === undefined)
    problems.push('"tokenVariable" or "tokenFile" is missing.')
  for (const [one, other] of [
    ['tokenVariable', 'tokenFile'],
    ['workerSecretVariable', 'workerSecretFile'],
  ] as const)
    if (settings[one] !== undefined && settings[other] !== undefined)
      problems.push(`Set "${one}" or "${other}", not both.`)
  return problems
}

/** The settings with defaults filled in. They were checked when the destination was created. */
export function githubSettingsOf(settings: Settings): GithubSettings {
  const problems = githubProblemsOf(settings)
  if (problems.length > 0) throw new Error(`The settings of a GitHub destination are wrong: ${problems.join(' ')}`)
  return { labels: true, ...settings } as GithubSettings
}

/** Whether a token may be sent to the address: it uses https, or it is on this machine. */
export function isApiUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null || url.username !== '' || url.search !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

function isSetting(name: string): name is keyof GithubSettings {
  return Object.hasOwn(checks, name)
}

function isRepository(name: string): boolean {
  return /^[a-z\d][a-z\d-]*\/[\w.-]+$/i.test(name) && !/\/\.{1,2}$/.test(name)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function variableName(value: unknown): string | undefined {
  return matches(value, /^[A-Z_][A-Z\d_]*$/i) ? undefined : 'the name of an environment variable'
}

function absolutePath(value: unknown): string | undefined {
  return typeof value === 'string' && isAbsolute(value) ? undefined : 'an absolute path'
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}
