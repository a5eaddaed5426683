/** Attention items about recorded events. Pure. */
import { bounded } from '../bounded.ts'
import { counted, inWords } from '../words.ts'
import { argument, pagePath, type Attention } from './attention-item.ts'
import type { Recorded } from './recorded.ts'

export function aboutRecords(facts: Recorded, hasLivingNode: boolean): Attention[] {
  return [
    ...facts.deadHolders.map((holder) => deadHolder(holder, hasLivingNode)),
    ...facts.failing.map(failingHeartbeats),
    ...refusedWrites(facts.refused),
    ...toReview(facts.toReview),
    ...facts.schedules.map(lateSchedule),
    ...givenUp(facts.deliveries),
    ...facts.errors.map(risingError),
  ]
}

function deadHolder({ id, name, runs }: Recorded['deadHolders'][number], hasLivingNode: boolean): Attention {
  const node = name ?? id
  return {
    kind: 'stale-node-holds-runs',
    level: 'bad',
    subject: node,
    sentence: `${node} is lost and still holds ${counted(bounded(runs, 999), 'run')}.`,
    detail: hasLivingNode
      ? 'Live nodes recover them once it has been silent for as long as its thresholds allow.'
      : 'A node that starts recovers them, within seconds if the database shows that the session of the node has ended.',
    command: hasLivingNode ? recoverCommand(name) : 'q start',
    page: pagePath('nodes', id),
    facts: { id, runs },
  }
}

/** A replica whose row is missing cannot be named in a command. */
function recoverCommand(name: string | null): string {
  return name === null ? 'q recover --dry-run' : `q recover --node ${argument(name)}`
}

function failingHeartbeats({ id, name, inARow, error }: Recorded['failing'][number]): Attention {
  const node = name ?? id
  return {
    kind: 'heartbeats-fail',
    level: 'warn',
    subject: node,
    sentence: `${node} could not send ${inARow} heartbeats in a row within the last 10 minutes.`,
    detail: error,
    command: name === null ? 'q nodes --stopped' : `q node ${argument(name)}`,
    page: pagePath('nodes', id),
    facts: { inARow, error },
  }
}

const refusedWords: Readonly<Record<string, string>> = {
  'refused-start': 'a start',
  'refused-beat': 'a heartbeat',
  'refused-checkpoint': 'a checkpoint',
  'refused-log': 'a log line',
  'refused-enqueue': 'an enqueue',
  'refused-settle': 'an outcome',
}

function refusedWrites({ count, runId, kind, name, ...lost }: Recorded['refused']): Attention[] {
  if (count === 0 || runId === null || kind === null) return []
  const write = `${refusedWords[kind] ?? 'a write'} of run ${runId}${name === null ? '' : ` by ${name}`}`
  return [
    {
      kind: 'refused-writes',
      level: 'warn',
      subject: name ?? 'a node',
      sentence: `${counted(bounded(count), 'write')} under a lost lease ${count === 1 ? 'was' : 'were'} refused in the last hour.`,
      detail: `The last was ${write}. ${whyLost(lost)}`,
      command: `q show ${runId}`,
      page: pagePath('heartbeats'),
      facts: { count, runId },
    },
  ]
}

function whyLost({ recovered, ended }: Pick<Recorded['refused'], 'recovered' | 'ended'>): string {
  if (recovered) return 'The code continued after its run had been recovered.'
  return ended ? 'The run had already ended.' : 'The run had already been released or claimed again.'
}

function toReview({ count, task }: Recorded['toReview']): Attention[] {
  if (count === 0) return []
  return [
    {
      kind: 'to-review',
      level: 'warn',
      subject: task ?? 'runs',
      sentence: `${counted(bounded(count), 'run')} ${count === 1 ? 'was' : 'were'} running when ${count === 1 ? 'its' : 'their'} node died and ${count === 1 ? 'is' : 'are'} to be reviewed.`,
      detail: `${count === 1 ? 'Its' : 'Their'} code may have done part of its work: retry or accept ${count === 1 ? 'it' : 'each'}.`,
      command: 'q review',
      page: pagePath('recoveries'),
      facts: { count },
    },
  ]
}

function lateSchedule({ name, lateMs, failedRunId }: Recorded['schedules'][number]): Attention {
  const late = lateMs !== null
  return {
    kind: 'schedule-late',
    level: late ? 'warn' : 'note',
    subject: name,
    sentence: late
      ? `The schedule ${name} is ${inWords(lateMs)} late.`
      : `The last run of the schedule ${name} failed.`,
    detail: late ? 'Any live node enqueues its ticks, but none has.' : 'Its next tick is enqueued as planned.',
    command: failedRunId !== null && !late ? `q show ${failedRunId}` : `q schedules ${argument(name)}`,
    page: pagePath('schedules', name),
    facts: { lateMs, failedRunId },
  }
}

function givenUp({ count, destination, error }: Recorded['deliveries']): Attention[] {
  if (count === 0) return []
  return [
    {
      kind: 'deliveries-given-up',
      level: 'warn',
      subject: destination ?? 'deliveries',
      sentence: `${counted(bounded(count), 'delivery', 'deliveries')} ${count === 1 ? 'was' : 'were'} given up, the last to ${destination ?? 'a destination'}.`,
      detail: error,
      command: 'q deliveries --given-up',
      page: pagePath('deliveries'),
      facts: { count, destination },
    },
  ]
}

function risingError({ fingerprint, name, message, task, seen, usual }: Recorded['errors'][number]): Attention {
  const error = message === '' ? name : `${name}: ${message}`
  return {
    kind: 'errors-rise',
    level: 'warn',
    subject: task ?? fingerprint,
    sentence: `${task ?? 'A task'} failed ${seen} times within two hours: ${error}${/[.!?…]$/.test(error) ? '' : '.'}`,
    detail: usual === 0 ? 'It did not occur in the day before.' : `The usual rate is ${usual.toFixed(1)} an hour.`,
    command: `q errors ${argument(fingerprint.slice(0, 8))}`,
    page: pagePath('errors', fingerprint),
    facts: { fingerprint, seen, usual },
  }
}
