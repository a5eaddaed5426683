/**
 * What a runner is told from outside, read once from the environment, checked and frozen.
 * Every problem is reported in one go, each with its variable, its value, the rule and a value that passes.
 */
import { availableParallelism, hostname } from 'node:os'
import { ExplainedError } from '@q/schema'
import { isName } from '@q/task'
import { presets, type Preset } from './presets.ts'

export interface RunnerConfig {
  readonly presetName: string
  readonly preset: Preset
  readonly name: string
  /** Runs executed at once: one per thread. */
  readonly threads: number
  /** Queues to work on; empty: all. */
  readonly queues: readonly string[]
  /** What it can do beyond the ordinary, for runs that require it. */
  readonly capabilities: readonly string[]
  /** Files or globs of task modules; empty: the demo tasks. */
  readonly taskModules: readonly string[]
  readonly logLevel: string
  /** How long a drain waits for runs before it stops them. Below the 30 s after which orchestrators kill. */
  readonly drainMs: number
  /** How often to look for work when no wake comes. */
  readonly pollEveryMs: number
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export function readConfig(env: NodeJS.ProcessEnv): RunnerConfig {
  const problems: string[] = []
  const say = (key: string, rule: string, passes: string) =>
    void problems.push(`${key}=${env[key]}: ${rule}, for instance ${key}=${passes}`)

  function whole(key: string, otherwise: number, min: number, max: number): number {
    const text = env[key]
    if (text === undefined || text === '') return otherwise
    const value = Number(text)
    if (Number.isInteger(value) && value >= min && value <= max) return value
    say(key, `must be a whole number from ${min} to ${max}`, String(otherwise))
    return otherwise
  }

  function oneOf(key: string, otherwise: string, allowed: readonly string[]): string {
    const text = env[key] || otherwise
    if (allowed.includes(text)) return text
    say(key, `must be one of ${allowed.join(', ')}`, otherwise)
    return otherwise
  }

  function names(key: string): string[] {
    const list = listOf(env[key])
    if (!list.every(isName))
      say(key, 'must be names of 1 to 100 letters, digits or . _ - : / separated by commas', 'default')
    return list
  }

  const presetName = oneOf('Q_PRESET', 'default', Object.keys(presets))
  const preset = presets[presetName]
  const name = env['Q_NAME'] || hostname()
  if (!isName(name)) say('Q_NAME', 'must be 1 to 100 letters, digits or . _ - : /', 'worker-1')
  const config: Omit<RunnerConfig, 'preset'> = {
    presetName,
    name,
    // Knows CPU affinity and cgroup quotas.
    threads: whole('Q_THREADS', availableParallelism(), 1, 1024),
    queues: names('Q_QUEUES'),
    capabilities: names('Q_CAPABILITIES'),
    taskModules: listOf(env['Q_TASKS']),
    logLevel: oneOf('Q_LOG_LEVEL', 'info', logLevels),
    drainMs: whole('Q_DRAIN_MS', 25_000, 0, 86_400_000),
    pollEveryMs: whole('Q_POLL_MS', 1_000, 50, 60_000),
  }
  if (problems.length > 0 || preset === undefined) throw wrongConfig(problems)
  return Object.freeze({ ...config, preset })
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function wrongConfig(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'CONFIG_INVALID',
    what: `${problems.length === 1 ? 'A setting is' : `${problems.length} settings are`} wrong:\n${problems.map((problem) => `    ${problem}`).join('\n')}`,
    why: 'The environment of this process says so; nothing was started.',
    fix: 'Correct the variables above, or unset them for their defaults.',
  })
}
