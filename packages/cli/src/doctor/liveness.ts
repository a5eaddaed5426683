/** Group `liveness`: heartbeats, thresholds, clocks and recovery. */
import { randomUUID } from 'node:crypto'
import { isLiving } from '../screens/nodes.ts'
import { shellWord } from '@q/server/client'
import { long, shortDuration } from '../words/ages.ts'
import { plural } from '../words/counts.ts'
import { byAttention } from './by-attention.ts'
import { ok, skipped, type Check } from './check.ts'

const clockMsMax = 5_000

const heartbeat: Check = {
  id: 'liveness.heartbeat',
  async look({ store }) {
    const { wasRead, tookMs } = await store.tryHeartbeat(`doctor-${randomUUID().slice(0, 8)}`)
    if (wasRead) return ok(`A test heartbeat was written, read back and removed in ${shortDuration(tookMs)}.`)
    return {
      level: 'fail',
      what: 'A test heartbeat could not be read back.',
      why: 'Replicas would look dead, and their runs would be recovered while they execute.',
      fix: 'Look for triggers or rules on q.replica_heartbeat: q doctor --only schema',
    }
  },
}

const nodes: Check = {
  id: 'liveness.nodes',
  async look(surroundings) {
    const all = await surroundings.nodes()
    const living = all.filter(isLiving)
    if (living.length > 0)
      return ok(
        `${plural(living.length, 'node')} alive: ${living
          .slice(0, 10)
          .map(({ name }) => name)
          .join(', ')}.`,
      )
    return {
      level: 'warn',
      what: 'No node is alive.',
      why: 'Nothing is executed, and no run of a dead node is recovered.',
      fix: 'q start',
    }
  },
}

const thresholds: Check = {
  id: 'liveness.thresholds',
  async look(surroundings) {
    const tight = (await surroundings.nodes()).filter(isLiving).flatMap(({ name, thresholds: t }) =>
      (
        [
          ['replica', t.replicaBeatMs, t.replicaStaleMs],
          ['claimer', t.claimerBeatMs, t.claimerStaleMs],
          ['runner', t.runnerBeatMs, t.runnerStaleMs],
        ] as const
      ).flatMap(([kind, beat, stale]) =>
        stale < 2 * beat
          ? [`${name}: ${kind} beats every ${shortDuration(beat)}, stale after ${shortDuration(stale)}`]
          : [],
      ),
    )
    if (tight.length === 0) return ok('Every threshold is at least twice its interval.')
    return {
      level: 'fail',
      what: `${tight.join('; ')}.`,
      why: 'One late heartbeat makes a live node look dead.',
      fix: 'Raise the threshold (Q_REPLICA_STALE_MS, Q_CLAIMER_STALE_MS, Q_RUNNER_STALE_MS) to three intervals.',
    }
  },
}

const presence: Check = {
  id: 'liveness.presence',
  async look(surroundings) {
    const without = (await surroundings.nodes()).filter((node) => isLiving(node) && node.presence === 'none')
    if (without.length === 0) return ok('Every live node holds its presence lock.')
    return {
      level: 'note',
      what: `${plural(without.length, 'live node')} without a presence lock: ${without.map(({ name }) => name).join(', ')}.`,
      why: 'A pooler is in between, or it is just reconnecting. Its death is noticed by its heartbeats alone.',
      fix: 'Set DATABASE_URL_DIRECT on it.',
    }
  },
}

const duties: Check = {
  id: 'liveness.duties',
  async look({ store }) {
    const dead = await store.dutiesOfDead()
    if (dead.length === 0) return ok('No duty is held by a dead node.')
    return {
      level: 'note',
      what: `${dead.map(({ duty, endsInMs }) => `${duty} for another ${shortDuration(endsInMs)}`).join(', ')}: held by a dead node.`,
      why: 'No other node does that work until then.',
      fix: 'Wait; a live node takes over when the lease ends.',
    }
  },
}

const clock: Check = {
  id: 'liveness.clock',
  async look({ store }) {
    const begun = Date.now()
    const { now } = await store.inspectServer()
    const middle = (begun + Date.now()) / 2
    const aheadMs = now.getTime() - middle
    // The measurement is not exact to the millisecond: without rounding, 65 min could read 64 min 59 s.
    const seconds = Math.round(Math.abs(aheadMs) / 1_000)
    const what = `The clock of the server is ${long(seconds * 1_000)} ${aheadMs < 0 ? 'behind' : 'ahead of'} the clock here.`
    if (Math.abs(aheadMs) <= clockMsMax) return ok(what)
    return {
      level: 'warn',
      what,
      why: 'q judges by the server alone, so runs are safe; times that you type or read here are off, and certificates may be refused.',
      fix: 'Synchronise the clocks (NTP).',
    }
  },
}

const jumps: Check = {
  id: 'liveness.gaps',
  async look(surroundings) {
    const living = (await surroundings.nodes()).filter(isLiving).slice(0, 20)
    if (living.length === 0) return skipped('No node is alive.')
    const details = await Promise.all(living.map(({ id }) => surroundings.store.nodeDetail(id)))
    const gaps = details
      .flatMap((detail) => (detail === undefined ? [] : detail.gaps))
      .filter(({ endedAt }) => Date.now() - endedAt.getTime() < 3_600_000)
    const [longest] = gaps.toSorted((a, b) => b.ms - a.ms)
    if (longest === undefined) return ok('No gap between heartbeats in the last hour.')
    return {
      level: 'note',
      what: `${plural(gaps.length, 'gap')} between heartbeats in the last hour; the longest, of ${longest.name ?? longest.replicaId}, was ${long(longest.ms)}.`,
      why: 'A node that is silent for longer than its threshold loses its runs.',
      fix: `q node ${shellWord(longest.name ?? longest.replicaId)}`,
    }
  },
}

export const livenessChecks: readonly Check[] = [
  heartbeat,
  nodes,
  byAttention('liveness.lost-nodes', ['stale-node-holds-runs'], 'No lost node holds runs.'),
  byAttention('liveness.heartbeats', ['heartbeats-fail'], 'Heartbeats are accepted.'),
  byAttention('liveness.recovery', ['recovery-off'], 'Every live node recovers runs of dead nodes.'),
  byAttention('liveness.refused-writes', ['refused-writes'], 'No write of a lost lease was refused lately.'),
  thresholds,
  presence,
  duties,
  clock,
  jumps,
]
