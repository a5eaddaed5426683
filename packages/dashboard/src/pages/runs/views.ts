/** The built-in views: each has an order of its own that the database reads cheaply. */
import type { RunViewName } from '../../api/run-contract.ts'

export interface RunsView {
  readonly name: RunViewName
  readonly label: string
  /** The states that the view shows, as a filter for what is done to all of them; null: it cannot be said as one. */
  readonly states: readonly string[] | null
  readonly empty: string
}

export const views: readonly RunsView[] = [
  { name: 'newest', label: 'Newest', states: [], empty: 'Nothing was enqueued yet.' },
  { name: 'running', label: 'Running longest', states: ['running', 'claimed'], empty: 'Nothing runs now.' },
  { name: 'failed', label: 'Failed lately', states: ['failed'], empty: 'Nothing failed lately.' },
  { name: 'waiting', label: 'Waiting longest', states: ['available'], empty: 'No run is ready and waits.' },
  { name: 'review', label: 'To review', states: null, empty: 'There is nothing to review.' },
  { name: 'stopping', label: 'Stopping', states: null, empty: 'No run is being stopped.' },
]

/** Without a name the newest runs; undefined: there is no view of this name. */
export function viewNamed(name: string | null): RunsView | undefined {
  return views.find((view) => view.name === (name ?? 'newest'))
}
