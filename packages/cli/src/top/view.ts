/** The view state of `q top`, and how keys change it. Pure: effects are returned, not executed. */
import type { Node, QueueView, RunSummary } from '@q/store'
import { isLiving } from '../screens/nodes.ts'
import type { TopFacts } from './facts.ts'

export type Pane = 'queues' | 'nodes' | 'runs'
const panes: readonly Pane[] = ['queues', 'nodes', 'runs']

export interface TopView {
  readonly pane: Pane
  /** The index of the selected line in each pane. */
  readonly selected: Readonly<Record<Pane, number>>
  /** Only lines that contain it are shown, in all panes. */
  readonly filter: string
  /** Decides what the next key does. */
  readonly mode: 'list' | 'filter' | 'confirm' | 'detail'
  readonly frozen: boolean
  readonly asked: PendingAction | undefined
  /** The result of the last action. */
  readonly message: string
}

export const firstView: TopView = {
  pane: 'queues',
  selected: { queues: 0, nodes: 0, runs: 0 },
  filter: '',
  mode: 'list',
  frozen: false,
  asked: undefined,
  message: '',
}

/** An action that waits for confirmation. */
export interface PendingAction {
  readonly what: 'drain' | 'undrain' | 'cancel' | 'retry' | 'pause' | 'resume'
  readonly id: string
  readonly question: string
}

export type Effect =
  | 'none'
  | 'quit'
  | 'suspend'
  | { readonly act: PendingAction }
  | { readonly open: { readonly pane: Pane; readonly id: string } }

export interface Key {
  readonly name: string
  readonly ctrl: boolean
  readonly text: string
}

export function press(view: TopView, key: Key, facts: TopFacts): { readonly view: TopView; readonly effect: Effect } {
  if (key.ctrl && key.name === 'c') return { view, effect: 'quit' }
  if (key.ctrl && key.name === 'z') return { view, effect: 'suspend' }
  switch (view.mode) {
    case 'filter':
      return { view: typeFilter(view, key), effect: 'none' }
    case 'confirm':
      return confirm(view, key)
    case 'detail':
      return {
        view: ['escape', 'q', 'backspace', 'return', 'left'].includes(key.name) ? { ...view, mode: 'list' } : view,
        effect: 'none',
      }
    case 'list':
      return pressInList(view, key, facts)
  }
}

function typeFilter(view: TopView, key: Key): TopView {
  if (key.name === 'return') return { ...view, mode: 'list' }
  if (key.name === 'escape') return { ...view, mode: 'list', filter: '' }
  if (key.name === 'backspace') return { ...view, filter: view.filter.slice(0, -1) }
  return /^[\u0020-\u007E]$/.test(key.text)
    ? { ...view, filter: view.filter + key.text, selected: firstView.selected }
    : view
}

function confirm(view: TopView, key: Key): { view: TopView; effect: Effect } {
  const next: TopView = { ...view, mode: 'list', asked: undefined }
  if (key.name !== 'y' || view.asked === undefined)
    return { view: { ...next, message: 'Nothing was changed.' }, effect: 'none' }
  return { view: next, effect: { act: view.asked } }
}

function pressInList(view: TopView, key: Key, facts: TopFacts): { view: TopView; effect: Effect } {
  const quiet = { ...view, message: '' }
  const pane = panes[Number(key.text) - 1]
  if (pane !== undefined) return { view: { ...quiet, pane }, effect: 'none' }
  switch (key.name) {
    case 'q':
    case 'escape':
      return { view, effect: 'quit' }
    case 'space':
      return { view: { ...quiet, frozen: !view.frozen }, effect: 'none' }
    case 'tab':
      return {
        view: { ...quiet, pane: panes[(panes.indexOf(view.pane) + 1) % panes.length] ?? 'queues' },
        effect: 'none',
      }
    case 'up':
    case 'k':
      return { view: moved(quiet, -1, facts), effect: 'none' }
    case 'down':
    case 'j':
      return { view: moved(quiet, 1, facts), effect: 'none' }
    case 'return': {
      const id = selectedId(view, facts)
      return id === undefined
        ? { view, effect: 'none' }
        : { view: { ...quiet, mode: 'detail' }, effect: { open: { pane: view.pane, id } } }
    }
    default: {
      if (key.text === '/') return { view: { ...quiet, mode: 'filter' }, effect: 'none' }
      const asked = actFor(key.name, view, facts)
      return { view: asked === undefined ? quiet : { ...quiet, mode: 'confirm', asked }, effect: 'none' }
    }
  }
}

function moved(view: TopView, by: number, facts: TopFacts): TopView {
  const most = Math.max(0, linesOf(view, facts).length - 1)
  const to = Math.min(most, Math.max(0, view.selected[view.pane] + by))
  return { ...view, selected: { ...view.selected, [view.pane]: to } }
}

function actFor(name: string, view: TopView, facts: TopFacts): PendingAction | undefined {
  const id = selectedId(view, facts)
  if (id === undefined) return undefined
  if (view.pane === 'nodes' && name === 'd') {
    const node = shownNodes(view, facts).find((one) => one.id === id)
    const what = node?.state === 'draining' ? 'undrain' : 'drain'
    return { what, id, question: `${what === 'drain' ? 'Drain' : 'Undrain'} ${node?.name ?? id}?` }
  }
  if (view.pane === 'queues' && name === 'p') {
    const paused = facts.queues.find(({ queue }) => queue === id)?.paused === true
    return { what: paused ? 'resume' : 'pause', id, question: `${paused ? 'Resume' : 'Pause'} queue ${id}?` }
  }
  if (view.pane === 'runs' && name === 'c') return { what: 'cancel', id, question: `Cancel run ${id}?` }
  if (view.pane === 'runs' && name === 'r') return { what: 'retry', id, question: `Retry run ${id}?` }
  return undefined
}

function selectedId(view: TopView, facts: TopFacts): string | undefined {
  return linesOf(view, facts)[view.selected[view.pane]]
}

/** Ids of the lines of the pane. */
function linesOf(view: TopView, facts: TopFacts): readonly string[] {
  if (view.pane === 'queues') return shownQueues(view, facts).map(({ queue }) => queue)
  return view.pane === 'nodes'
    ? shownNodes(view, facts).map(({ id }) => id)
    : shownRuns(view, facts).map(({ id }) => id)
}

export function shownQueues({ filter }: TopView, { queues }: TopFacts): readonly QueueView[] {
  return queues.filter(({ queue }) => queue.includes(filter))
}

/** Live nodes first: those that were lost long ago do not hide them. */
export function shownNodes({ filter }: TopView, { nodes }: TopFacts): readonly Node[] {
  const fitting = nodes.filter(({ name }) => name.includes(filter))
  return [...fitting.filter(isLiving), ...fitting.filter((node) => !isLiving(node))]
}

export function shownRuns({ filter }: TopView, { runs }: TopFacts): readonly RunSummary[] {
  return runs.filter(({ id, task, queue, replicaName }) =>
    [id, task, queue, replicaName ?? ''].some((text) => text.includes(filter)),
  )
}
