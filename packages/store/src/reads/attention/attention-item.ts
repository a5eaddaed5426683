/** Something that a person should act on, and the order of harm. Pure. */

/** The most harmful first. */
export const attentionKinds = [
  'no-node',
  'stale-node-holds-runs',
  'lane-unserved',
  'queue-paused',
  'queue-waits',
  'queue-grows',
  'drain-overdue',
  'heartbeats-fail',
  'refused-writes',
  'to-review',
  'schedule-late',
  'deliveries-given-up',
  'recovery-off',
  'slots-stopping',
  'versions-mixed',
  'health-degraded',
  'errors-rise',
  'snapshot-held',
  'connections-scarce',
  'dead-tuples',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export interface Attention {
  readonly kind: AttentionKind
  readonly level: 'bad' | 'warn' | 'note'
  /** The queue, node, task, schedule or group of errors that it is about. */
  readonly subject: string
  /** One plain sentence. */
  readonly sentence: string
  readonly detail: string | null
  /** The command line that helps. */
  readonly command: string
  /** The path of the page that shows it. */
  readonly page: string
  readonly facts: Readonly<Record<string, string | number | null>>
}

const levels: readonly Attention['level'][] = ['bad', 'warn', 'note']

/** Present harm comes before possible harm; then by kind. */
export function byHarm(items: readonly Attention[]): Attention[] {
  const rank = ({ level, kind }: Attention) =>
    levels.indexOf(level) * attentionKinds.length + attentionKinds.indexOf(kind)
  return items.toSorted((a, b) => rank(a) - rank(b))
}

/** Subjects of one kind that are named. */
export const subjectsMax = 20

/** An argument of a command, as a shell reads it. */
export function argument(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A path of the page. */
export function pagePath(section: string, name?: string): string {
  return name === undefined ? `/${section}` : `/${section}/${encodeURIComponent(name)}`
}
