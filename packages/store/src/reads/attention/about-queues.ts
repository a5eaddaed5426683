/** Attention items about queues: unserved lanes, pauses with a backlog, long waits and growth. Pure. */
import type { UnservedLane } from '../queues/unserved-lanes.ts'
import { sumOf } from '../bounded.ts'
import { counted, inWords } from '../words.ts'
import { argument, pagePath, subjectsMax, type Attention } from './attention-item.ts'
import { growthMin, grows, waitMsMin, type QueueSigns } from './queue-signs.ts'

/** A wait is long if it exceeds the 95th percentile of the last hour by this factor. */
const waitFactor = 10

export function aboutLanes(lanes: readonly UnservedLane[]): Attention[] {
  return lanes.slice(0, subjectsMax).map((lane) => ({
    kind: 'lane-unserved',
    level: 'bad',
    subject: lane.task,
    sentence: `${lane.task}: ${counted(lane.ready, 'run')} cannot start, ${lane.missing}.`,
    detail: `The oldest has waited for ${inWords(lane.oldestMs)}.`,
    command: `q why ${lane.sampleRunId}`,
    page: pagePath('queues', lane.queue),
    facts: { queue: lane.queue, ready: lane.ready.count, oldestMs: Math.round(lane.oldestMs), runId: lane.sampleRunId },
  }))
}

export function aboutQueues(queues: readonly QueueSigns[], now: Date): Attention[] {
  return [
    ...queues.flatMap((queue) => pausedWithBacklog(queue, now)).slice(0, subjectsMax),
    ...queues.flatMap(longWait).slice(0, subjectsMax),
    ...queues.flatMap(growth).slice(0, subjectsMax),
  ]
}

function about({ queue }: QueueSigns): Pick<Attention, 'subject' | 'page'> {
  return { subject: queue, page: pagePath('queues', queue) }
}

function pausedWithBacklog(view: QueueSigns, now: Date): Attention[] {
  const kept = sumOf([view.ready, view.keyed])
  if (!view.paused || kept.count === 0) return []
  const forMs = view.pausedAt === null ? 0 : now.getTime() - view.pausedAt.getTime()
  const by = view.pausedBy === null ? '' : ` by ${view.pausedBy}`
  return [
    {
      kind: 'queue-paused',
      level: 'warn',
      ...about(view),
      sentence: `${view.queue} was paused ${inWords(forMs)} ago${by}, and ${counted(kept, 'run')} ${kept.count === 1 ? 'waits' : 'wait'} in it.`,
      detail: view.pauseReason ?? 'No reason was given.',
      command: `q queues resume ${argument(view.queue)}`,
      facts: { forMs, by: view.pausedBy, ready: view.ready.count },
    },
  ]
}

function longWait(view: QueueSigns): Attention[] {
  const usualMs = view.usualWaitMs
  const limitMs = Math.max(waitMsMin, waitFactor * (usualMs ?? 0))
  const waitMs = view.oldestReadyMs ?? 0
  // An unserved lane is reported as such.
  if (view.paused || waitMs <= limitMs || view.unserved) return []
  return [
    {
      kind: 'queue-waits',
      level: 'warn',
      ...about(view),
      sentence: `The oldest run of ${view.queue} has been ready for ${inWords(waitMs)}.`,
      detail:
        usualMs === null
          ? 'None of its runs was started in the last hour.'
          : `In the last hour 95 % of its runs started within ${inWords(usualMs)}.`,
      command: `q runs --view waiting --queue ${argument(view.queue)}`,
      facts: { waitMs: Math.round(waitMs), usualMs },
    },
  ]
}

function growth(view: QueueSigns): Attention[] {
  const perS = view.growthPerS ?? 0
  if (view.paused || !grows(perS) || view.ready.count < growthMin) return []
  return [
    {
      kind: 'queue-grows',
      level: 'warn',
      ...about(view),
      sentence: `${view.queue} grows by ${perS.toFixed(1)} runs a second; ${counted(view.ready, 'run')} are ready.`,
      detail: 'At this rate it never becomes empty.',
      command: `q queues ${argument(view.queue)}`,
      facts: { growthPerS: perS, ready: view.ready.count },
    },
  ]
}
