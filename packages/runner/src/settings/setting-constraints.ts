/**
 * Constraints between settings. All violations are reported, each with its variable, its value, the rule and a value that
 * passes all rules the variable has broken. A valid setting that leaves little room is a warning, except in a preset whose
 * values were not changed.
 */
import { fenceMsOf } from '../main/liveness/self-fence-limits.ts'
import { settings, type SettingValues } from './settings.ts'

/** More time than stopping a run takes. */
const stopTimeMs = 1_000

type Limits = { readonly [Key in keyof SettingValues as SettingValues[Key] extends number ? Key : never]: number }

const kinds = [
  { beat: 'replicaBeatMs', stale: 'replicaStaleMs' },
  { beat: 'claimerBeatMs', stale: 'claimerStaleMs' },
  { beat: 'runnerBeatMs', stale: 'runnerStaleMs' },
] as const

interface Violation {
  readonly key: keyof Limits
  readonly rule: string
  /** The least, or the most, that this rule lets pass. */
  readonly atLeast?: number
  readonly atMost?: number
}

export function checkConstraints(
  given: Limits,
  isSet: (key: keyof Limits) => boolean,
): { problems: string[]; warnings: string[] } {
  const broken: Violation[] = []
  const tight: Violation[] = []
  const name = (key: keyof Limits) => settings[key].variable
  const atLeast = (key: keyof Limits, other: keyof Limits, why: string) => {
    if (given[key] >= given[other]) return
    broken.push({ key, rule: `must be at least ${name(other)} (${given[other]}), ${why}`, atLeast: given[other] })
  }

  for (const { beat, stale } of kinds) {
    const beats = given[stale] / given[beat]
    const room = `${name(beat)} (${given[beat]})`
    const enough = { key: stale, atLeast: enoughFor(given[beat]) }
    if (beats < 2) broken.push({ ...enough, rule: `must be at least twice ${room}: one lost beat must have no effect` })
    else if (fenceMsOf(given[stale], given[beat]) <= 0)
      broken.push({ ...enough, rule: `leaves no time beside ${room} to stop a run before others start it` })
    else if (beats < 3 && (isSet(beat) || isSet(stale)))
      tight.push({ ...enough, rule: `is less than three times ${room}: two lost beats are taken for a death` })
    if (given.checkEveryMs > given[stale])
      broken.push({
        key: 'checkEveryMs',
        rule: `must be at most ${name(stale)} (${given[stale]}): stale runs must be found in time`,
        atMost: given[stale],
      })
    atLeast('heartbeatsKeptMs', stale, 'or evidence is removed before it is judged')
    atLeast('runsKeptMs', stale, 'or a run is removed before it is judged')
  }
  atLeast('replicaStaleMs', 'presenceGraceMs', 'or a missed heartbeat would count before a lost session')
  atLeast('samplesKeptMs', 'sampleEveryMs', 'or there is never a sample')
  atLeast('unhealthyCpu', 'degradedCpu', 'since unhealthy is worse')
  atLeast('unhealthyMb', 'degradedMb', 'since unhealthy is worse')

  const say = ({ key, rule }: Violation) => {
    const own = broken.concat(tight).filter((other) => other.key === key)
    const least = Math.max(...own.map((other) => other.atLeast ?? 0))
    const passes = Math.min(...own.map((other) => other.atMost ?? Math.max(least, 1)))
    return `${name(key)}=${given[key]}: ${rule}, for instance ${name(key)}=${passes}`
  }
  return { problems: [...new Set(broken.map(say))], warnings: tight.map(say) }
}

function enoughFor(beatMs: number): number {
  const three = 3 * beatMs
  return fenceMsOf(three, beatMs) > 0 ? three : three + stopTimeMs
}
