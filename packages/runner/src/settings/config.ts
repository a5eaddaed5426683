/**
 * The configuration of a runner: read once from the environment, validated and frozen. All problems are reported
 * together, each with its variable, its value, the rule and a value that passes.
 */
import { ExplainedError } from '@q/schema'
import { presets, type Preset } from './presets.ts'
import { checkConstraints } from './setting-constraints.ts'
import type { Setting } from './setting-parsers.ts'
import { programSettings, settings, type SettingValues } from './settings.ts'

export interface RunnerConfig extends SettingValues {
  /** Queues to work on; empty: all. */
  readonly queues: readonly string[]
  /** The preset, with the settings that replace some of its values. */
  readonly preset: Preset
  /** Settings that are valid and probably mistakes. */
  readonly warnings: readonly string[]
}

export function readConfig(env: NodeJS.ProcessEnv): RunnerConfig {
  const isSet = (key: keyof SettingValues) => (env[settings[key].variable] ?? '') !== ''
  const presetName = settings.presetName.parse(env['Q_PRESET'] || 'default') ?? 'default'
  const shipped = presets[presetName] as Preset
  const { values, wrong } = readAll(env, shipped)
  const constraints = checkConstraints(values, isSet)
  // An invalid value was replaced by its default: a constraint that the default breaks is not a second problem.
  const follows = (problem: string) => [...wrong.keys()].some((variable) => problem.includes(variable))
  const related = wrong.has('Q_PRESET') ? [] : constraints.problems.filter((problem) => !follows(problem))
  const problems = [...wrong.values(), ...related]
  if (problems.length > 0) throw wrongConfig(problems)
  return Object.freeze({
    ...values,
    queues: Object.keys(values.queueWeights),
    preset: effective(shipped, values),
    warnings: [...constraints.warnings, ...unknownVariables(env)],
  })
}

/** Variables whose name begins with ours and that no setting reads: probably misspelt. */
function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const known = new Set([...Object.values(settings), ...programSettings].map(({ variable }) => variable))
  const isUnknown = (name: string) => name.startsWith('Q_') && !name.startsWith('Q_TEST_') && !known.has(name)
  return Object.keys(env)
    .filter(isUnknown)
    .map((name) => `${name} is not a setting: it has no effect`)
}

function readAll(env: NodeJS.ProcessEnv, preset: Preset): { values: SettingValues; wrong: Map<string, string> } {
  const wrong = new Map<string, string>()
  const read = <T>({ variable, otherwise, parse, rule, mistakes, passes }: Setting<T>): T => {
    const given = env[variable]
    if (given === undefined || given === '') return otherwise(preset)
    const value = parse(given)
    const why = mistakes?.(given).join('; ') || rule
    if (value === undefined) wrong.set(variable, `${variable}=${given}: ${why}, for instance ${variable}=${passes}`)
    return value === undefined ? otherwise(preset) : value
  }
  const values = Object.entries(settings).map(([key, setting]) => [key, read(setting as Setting<unknown>)])
  return { values: Object.fromEntries(values) as SettingValues, wrong }
}

function effective(shipped: Preset, values: SettingValues): Preset {
  const { replicaBeatMs, replicaStaleMs, checkEveryMs, claimerBeatMs, claimerStaleMs, runnerBeatMs, runnerStaleMs } =
    values
  return {
    ...shipped,
    onCrash: values.onCrash,
    heartbeatsKeptMs: values.heartbeatsKeptMs,
    timeoutMs: values.timeoutMs,
    maxSilentMs: values.maxSilentMs,
    unroutableMs: values.unroutableMs,
    thresholds: {
      replicaBeatMs,
      replicaStaleMs,
      checkEveryMs,
      claimerBeatMs,
      claimerStaleMs,
      runnerBeatMs,
      runnerStaleMs,
    },
  }
}

function wrongConfig(problems: readonly string[]): ExplainedError {
  return new ExplainedError({
    code: 'CONFIG_INVALID',
    what: `${problems.length === 1 ? 'A setting is' : `${problems.length} settings are`} wrong:\n${problems.map((problem) => `    ${problem}`).join('\n')}`,
    why: 'The environment of this process says so; nothing was started.',
    fix: 'Correct the variables above, or unset them for their defaults.',
  })
}
