/** The pages in the order of the rail, each with its address and the key that follows `g`. */
import type { IconName } from '../parts/icon.tsx'

export interface PageEntry {
  readonly path: string
  readonly name: string
  readonly icon: IconName
  readonly key: string | null
  /** On a phone it is in the bar; the others are under More. */
  readonly inBar: boolean
  readonly second: boolean
}

const entry = (
  path: string,
  name: string,
  icon: IconName,
  key: string | null,
  options: Partial<PageEntry> = {},
): PageEntry => ({
  path,
  name,
  icon,
  key,
  inBar: false,
  second: false,
  ...options,
})

export const pages: readonly PageEntry[] = [
  entry('/', 'Overview', 'overview', 'o', { inBar: true }),
  entry('/runs', 'Runs', 'runs', 'r', { inBar: true }),
  entry('/nodes', 'Nodes', 'nodes', 'n', { inBar: true }),
  entry('/queues', 'Queues', 'queues', 'q'),
  entry('/workflows', 'Workflows', 'workflows', 'w'),
  entry('/schedules', 'Schedules', 'schedules', 's'),
  entry('/errors', 'Errors', 'errors', 'e', { inBar: true, second: true }),
  entry('/recoveries', 'Recoveries', 'recoveries', null, { second: true }),
  entry('/heartbeats', 'Heartbeats', 'heartbeats', 'h', { second: true }),
  entry('/deliveries', 'Deliveries', 'deliveries', null, { second: true }),
  entry('/audit', 'Audit', 'audit', null, { second: true }),
]
