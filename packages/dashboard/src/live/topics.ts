/** The topics that a tab subscribes to, each as one word, so that the subscriptions of all tabs can be merged as sets. */
export type Topic =
  | 'nodes'
  | 'overview'
  | 'queues'
  | 'attention'
  | `run:${string}`
  | `log:${string}`
  | `workflow:${string}`
  | `operation:${string}`

/** The most topics of each kind that the server accepts. */
const runsMax = 200
const subjectsMax = 10

/** The path of the stream for a set of topics; the same set gives the same path. */
export function streamPath(topics: ReadonlySet<Topic>): string {
  const sorted = [...topics].toSorted()
  const of = (kind: string) =>
    sorted.filter((topic) => topic.startsWith(`${kind}:`)).map((topic) => topic.slice(kind.length + 1))
  const query = new URLSearchParams()
  query.set('topics', sorted.filter((topic) => !topic.includes(':')).join(','))
  const runs = of('run').slice(0, runsMax)
  if (runs.length > 0) query.set('runs', runs.join(','))
  for (const kind of ['log', 'workflow', 'operation']) {
    const subjects = of(kind).slice(0, subjectsMax)
    if (subjects.length > 0) query.set(kind, subjects.join(','))
  }
  return `/events?${query}`
}
