/**
 * What settings must be to each other. All violations are found, each with its variable, its value, the rule and a
 * value that passes. What is allowed but leaves little room is a warning, except in presets as they are shipped.
 */
import { boundOfMs } from './main/fence-bound.ts'
import { settings, type Values } from './settings.ts'

/** More than stopping takes. */
const stopTimeMs = 1_000

type Limits = { readonly [Key in keyof Values as Values[Key] extends number ? Key : never]: number }

const kinds = [
  { beat: 'replicaBeatMs', stale: 'replicaStaleMs' },
  { beat: 'claimerBeatMs', stale: 'claimerStaleMs' },
  { beat: 'runnerBeatMs', stale: 'runnerStaleMs' },
] as const

export function checkRelations(
  given: Limits,
  isSet: (key: keyof Limits) => boolean,
): { problems: string[]; warnings: string[] } {
  const problems: string[] = []
  const warnings: string[] = []
  const name = (key: keyof Limits) => settings[key].variable
  const say = (to: string[], key: keyof Limits, rule: string, passes: number) =>
    void to.push(`${name(key)}=${given[key]}: ${rule}, for instance ${name(key)}=${passes}`)
  const atLeast = (key: keyof Limits, other: keyof Limits, why: string) => {
    if (given[key] < given[other])
      say(problems, key, `must be at least ${name(other)} (${given[other]}), ${why}`, given[other])
  }

  for (const { beat, stale } of kinds) {
    const beats = given[stale] / given[beat]
    const room = `${name(beat)} (${given[beat]})`
    if (beats < 2)
      say(problems, stale, `must be at least twice ${room}: one lost beat must mean nothing`, 3 * given[beat])
    else if (boundOfMs(given[stale], given[beat]) <= 0)
      say(
        problems,
        stale,
        `leaves no time beside ${room} to stop a run before others start it`,
        3 * given[beat] + stopTimeMs,
      )
    else if (beats < 3 && (isSet(beat) || isSet(stale)))
      say(warnings, stale, `is less than three times ${room}: two lost beats are taken for a death`, 3 * given[beat])
    if (given.checkEveryMs > given[stale])
      say(
        problems,
        'checkEveryMs',
        `must be at most ${name(stale)} (${given[stale]}): who is stale must be looked at in time`,
        given[stale],
      )
    atLeast('heartbeatsKeptMs', stale, 'or evidence is removed before it is judged')
    atLeast('runsKeptMs', stale, 'or a run is removed before it is judged')
  }
  atLeast('replicaStaleMs', 'presenceGraceMs', 'or a missed heartbeat would count before a lost session')
  atLeast('samplesKeptMs', 'sampleEveryMs', 'or there is never a sample')
  atLeast('unhealthyCpu', 'degradedCpu', 'since unhealthy is worse')
  atLeast('unhealthyMb', 'degradedMb', 'since unhealthy is worse')
  return { problems: [...new Set(problems)], warnings }
}
