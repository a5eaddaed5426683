/** An attention item: something that a person should act on. Items are ordered by harm. Pure. */

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
  /** The affected queue, node, task, schedule or error group. */
  readonly subject: string
  /** One sentence. */
  readonly sentence: string
  readonly detail: string | null
  /** A command that helps. */
  readonly command: string
  /** The path of a page that shows the subject. */
  readonly page: string
  readonly facts: Readonly<Record<string, string | number | null>>
}

const levels: readonly Attention['level'][] = ['bad', 'warn', 'note']

/** Sorts by severity, then by kind. */
export function byHarm(items: readonly Attention[]): Attention[] {
  const rank = ({ level, kind }: Attention) =>
    levels.indexOf(level) * attentionKinds.length + attentionKinds.indexOf(kind)
  return items.toSorted((a, b) => rank(a) - rank(b))
}

/** The most items of one kind. */
export const subjectsMax = 20

/** Quotes an argument for a shell. */
export function argument(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns a path of the page. */
export function pagePath(section: string, name?: string): string {
  return name === undefined ? `/${section}` : `/${section}/${encodeURIComponent(name)}`
}
