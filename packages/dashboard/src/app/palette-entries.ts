/** Finds the entries of the palette for a text. Pure. */
import type { Node, PublishedTask, QueueView } from '../api/contract.ts'
import { connection } from '../live/connection.ts'
import type { IconName } from '../parts/icon.tsx'
import { byName, shortId } from '../parts/node-name.tsx'
import { pages } from './pages.ts'
import { toggleTheme } from './theme.ts'

export interface PaletteEntry {
  readonly kind: 'run' | 'node' | 'queue' | 'task' | 'page' | 'action'
  readonly name: string
  readonly icon: IconName
  readonly path: string
  readonly run?: () => void
}

interface Known {
  readonly nodes: readonly Node[] | undefined
  readonly queues: readonly QueueView[] | undefined
  readonly tasks: readonly PublishedTask[] | undefined
}

const entriesMax = 30

const actions: readonly PaletteEntry[] = [
  { kind: 'action', name: 'Enqueue a run', icon: 'plus', path: '/enqueue' },
  { kind: 'action', name: 'Freeze or go on', icon: 'heartbeats', path: '', run: connection.toggleFrozen },
  { kind: 'action', name: 'Change the theme', icon: 'theme', path: '', run: toggleTheme },
  { kind: 'page', name: 'Operations on many runs', icon: 'runs', path: '/operations' },
]

export function paletteEntries(text: string, { nodes = [], queues = [], tasks = [] }: Known): PaletteEntry[] {
  const typed = text.trim().toLowerCase()
  const id = /^#?(?:run )?(\d{1,19})$/.exec(typed)?.[1]
  const all: PaletteEntry[] = [
    ...pages.map(({ path, name, icon }): PaletteEntry => ({ kind: 'page', name, icon, path })),
    ...actions,
    ...livingFirst(nodes).map(({ id: node, name, state }): PaletteEntry => ({
      kind: 'node',
      name: `${name} ${shortId({ id: node, name })}${remarks[state]}`,
      icon: 'nodes',
      path: `/nodes/${encodeURIComponent(node)}`,
    })),
    ...queues.map(({ queue }): PaletteEntry => ({
      kind: 'queue',
      name: queue,
      icon: 'queues',
      path: `/queues/${encodeURIComponent(queue)}`,
    })),
    ...tasks.map(({ name }): PaletteEntry => ({
      kind: 'task',
      name,
      icon: 'runs',
      path: `/runs?task=${encodeURIComponent(name)}`,
    })),
  ]
  const run: PaletteEntry[] =
    id === undefined ? [] : [{ kind: 'run', name: `Run ${id}`, icon: 'runs', path: `/runs/${id}` }]
  return [...run, ...all.filter(({ name, kind }) => matches(typed, `${name} ${kind}`.toLowerCase()))].slice(
    0,
    entriesMax,
  )
}

const remarks: Readonly<Record<Node['state'], string>> = {
  alive: '',
  draining: ', draining',
  stale: ', lost',
  stopped: ', stopped',
}

/** By name; nodes that are gone come last. */
function livingFirst(nodes: readonly Node[]): readonly Node[] {
  const isGone = ({ state }: Node) => state === 'stale' || state === 'stopped'
  return byName(nodes).toSorted((a, b) => Number(isGone(a)) - Number(isGone(b)))
}

/** Every word of the text occurs. */
function matches(typed: string, name: string): boolean {
  return typed.split(/\s+/).every((word) => name.includes(word))
}
