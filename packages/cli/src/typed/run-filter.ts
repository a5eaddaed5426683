/** The filter of runs as options of a command: `--status`, `--task`, `--node`, `--since`, … */
import { shellWord } from '@q/server/client'
import type { Command } from 'commander'
import { ExplainedError } from '@q/schema'
import { stateNames, type RunFilter, type Store } from '@q/store'
import { nearestName } from './nearest-name.ts'
import { workflowId } from './ids.ts'
import { parseTime } from './parse-time.ts'
import { nodeNamed } from './nodes.ts'
import { errorGroupNotFound } from './not-found.ts'

export interface FilterOptions {
  readonly status?: string
  readonly task?: string
  readonly queue?: string
  readonly group?: string
  readonly node?: string
  readonly workflow?: string
  readonly schedule?: string
  readonly key?: string
  readonly code?: string
  readonly errors?: string
  readonly payload?: string
  readonly since?: string
  readonly until?: string
  readonly endedSince?: string
  readonly endedUntil?: string
}

export function withFilterOptions(command: Command): Command {
  return command
    .option('--status <states>', 'states, separated by commas: failed, running, queued, …')
    .option('--task <task>', 'runs of this task')
    .option('--queue <queue>', 'runs of this queue')
    .option('--group <group>', 'runs of this group')
    .option('--node <node>', 'runs that this node holds or held last')
    .option('--workflow <id>', 'steps of this workflow')
    .option('--schedule <name>', 'runs of this schedule')
    .option('--key <key>', 'runs with this unique key')
    .option('--code <code>', 'runs that ended with this code')
    .option('--errors <fingerprint>', 'runs that ended with this error (q errors)')
    .option('--payload <condition>', "a member of the payload: 'url~cdn' contains, 'id=5' equals")
    .option('--since <time>', 'enqueued at this time or later: 90s, 1h (ago), 13:02, yesterday, 2026-05-01')
    .option('--until <time>', 'enqueued before this time')
    .option('--ended-since <time>', 'ended at this time or later, whenever they were enqueued')
    .option('--ended-until <time>', 'ended before this time')
}

export async function filterOfOptions(store: Store, options: FilterOptions): Promise<RunFilter> {
  const { status, task, queue, group, node, workflow, schedule, key, code, errors, payload, since, until } = options
  const { endedSince, endedUntil } = options
  return {
    ...given('status', status === undefined ? undefined : statesOf(status)),
    ...given('task', task),
    ...given('queue', queue),
    ...given('group', group),
    ...given('replica', node === undefined ? undefined : (await nodeNamed(store, node)).id),
    ...given('workflow', workflow === undefined ? undefined : workflowId(workflow)),
    ...given('schedule', schedule),
    ...given('uniqueKey', key),
    ...given('code', code?.toUpperCase()),
    ...given('fingerprint', errors === undefined ? undefined : await fingerprintOf(store, errors)),
    ...given('payload', payload),
    ...given('createdAfter', since === undefined ? undefined : parseTime(since)),
    ...given('createdBefore', until === undefined ? undefined : parseTime(until)),
    ...given('endedAfter', endedSince === undefined ? undefined : parseTime(endedSince)),
    ...given('endedBefore', endedUntil === undefined ? undefined : parseTime(endedUntil)),
  }
}

/** The store refuses an unknown state too; a person gets the one that was probably meant. */
function statesOf(text: string): readonly string[] {
  const names = text.split(',')
  for (const name of names) {
    const typed = name.trim().toLowerCase().replaceAll('_', '-')
    const meant = stateNames.includes(typed) ? undefined : nearestName(typed, stateNames)
    if (meant === undefined) continue
    throw new ExplainedError({
      code: 'STATUS_UNKNOWN',
      what: `"${name}" is not a status. Did you mean ${meant}?`,
      why: 'No state of a run has that name.',
      fix: `Use one of ${stateNames.join(', ')}.`,
    })
  }
  return names
}

/** The given options as they were typed, for the command that continues a list. */
export function filterArguments(options: FilterOptions): string {
  const names = [
    'status',
    'task',
    'queue',
    'group',
    'node',
    'workflow',
    'schedule',
    'key',
    'code',
    'errors',
    'payload',
    'since',
    'until',
    'endedSince',
    'endedUntil',
  ] as const
  return names
    .flatMap((name) => (options[name] === undefined ? [] : ` --${dashed(name)} ${shellWord(options[name])}`))
    .join('')
}

export function isFiltered(options: FilterOptions): boolean {
  return filterArguments(options) !== ''
}

async function fingerprintOf(store: Store, text: string): Promise<string> {
  const group = await store.getErrorGroup(text)
  if (group === undefined) throw errorGroupNotFound(text)
  return group.fingerprint
}

function given<Key extends string, T>(key: Key, value: T | undefined): { [K in Key]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: T })
}

function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
