/** One field that finds a run by its id, a node, a queue, a task, a page or an action. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { Items, Node, PublishedTask, QueueView } from '../api/contract.ts'
import { useData } from '../api/use-data.ts'
import { allNodes } from '../live/apply-frames.ts'
import { Icon } from '../parts/icon.tsx'
import { type PaletteEntry, paletteEntries } from './palette-entries.ts'

export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [, navigate] = useLocation()
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => ref.current?.showModal(), [])
  const nodes = useData<Items<Node>>(allNodes).data?.items
  const queues = useData<Items<QueueView>>('/queues').data?.items
  const tasks = useData<Items<PublishedTask>>('/tasks', { everyMs: 60_000 }).data?.items
  const found = useMemo(() => paletteEntries(text, { nodes, queues, tasks }), [text, nodes, queues, tasks])
  const chosen = Math.min(at, Math.max(0, found.length - 1))

  function open(entry: PaletteEntry | undefined): void {
    if (entry === undefined) return
    onClose()
    if (entry.run === undefined) navigate(entry.path)
    else entry.run()
  }
  function onKey(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && found.length > 0) setAt((chosen + step + found.length) % found.length)
    if (event.key === 'Enter') open(found[chosen])
    if (step !== 0 || event.key === 'Enter') event.preventDefault()
  }
  return (
    <dialog
      ref={ref}
      className="palette"
      aria-label="Find"
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <input
        role="combobox"
        aria-label="Find a run, node, queue, task or action"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${chosen}`}
        placeholder="Run id, node, queue, task, page or action"
        value={text}
        onChange={(event) => (setText(event.target.value), setAt(0))}
        onKeyDown={onKey}
      />
      <ul id={id} role="listbox" aria-label="Found">
        {found.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(entry)}
            onMouseMove={() => setAt(index)}
            ref={(element) => void (index === chosen && element?.scrollIntoView({ block: 'nearest' }))}
          >
            <Icon name={entry.icon} />
            <span className="cut">{entry.name}</span>
            <span className="mute">{entry.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p>Nothing is called “{text}”.</p> : null}
    </dialog>
  )
}
