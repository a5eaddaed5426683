/** The threads of a node, those that are stopping first. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Node, NodeDetail, SlotView } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { growing } from '../../live/received.ts'
import { useNow } from '../../live/use-now.ts'
import { Badge } from '../../parts/badge.tsx'
import { Progress } from '../../parts/meter.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { duration } from '../../words/durations.ts'
import { megabytes, percent, several } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

export function ThreadsPanel({ node }: { readonly node: Node }): ReactNode {
  return (
    <>
      <div className="obj">
        <p className="soft">
          <NodeSentence node={node} />
        </p>
      </div>
      <ThreadsTable node={node} />
    </>
  )
}

export function NodeSentence({ node }: { readonly node: Node }): ReactNode {
  const stopping = node.threads.filter(({ state }) => state === 'stopping').length
  const presence = {
    held: 'Presence lock held.',
    gone: 'Its presence lock is missing.',
    none: 'No presence lock: deaths are noticed by heartbeats.',
  }
  return (
    <>
      <b>{several(node.slots, 'thread')}</b>
      {stopping === 0 ? '' : `, ${stopping} stopping`}. Serves{' '}
      {node.queues.length === 0 ? 'every queue' : node.queues.join(', ')}. {presence[node.presence]}{' '}
      {node.recovers ? '' : <span className="warn">Recovery is switched off on it. </span>}
      <span className="mute nw">
        {node.hostname}, pid {node.pid}
      </span>
    </>
  )
}

export function ThreadsTable({ node }: { readonly node: Node }): ReactNode {
  const { data } = useData<NodeDetail>(`/nodes/${encodeURIComponent(node.id)}`, { everyMs: 2_000 })
  const progress = new Map(data?.held.map((run) => [run.id, run]))
  const order = { stopping: 0, running: 1, idle: 2 }
  const shown = node.threads
    .filter(({ state }) => state !== 'idle')
    .toSorted((a, b) => order[a.state] - order[b.state] || a.slot - b.slot)
  if (shown.length === 0)
    return (
      <div className="obj">
        <p className="mute">Every thread is idle.</p>
      </div>
    )
  const head = (
    <>
      <Th className="num">Thread</Th>
      <Th>Run</Th>
      <Th>Task</Th>
      <Th>Progress</Th>
      <Th className="num">CPU</Th>
      <Th className="num">Heap</Th>
      <Th className="num">Silence</Th>
      <Th className="gap">
        <span className="vh">Remark</span>
      </Th>
    </>
  )
  return (
    <Table label={`Threads of ${node.name}`} className="t-t inner" head={head}>
      <Body>
        {shown.map((slot) => (
          <ThreadRow
            key={slot.slot}
            slot={slot}
            value={progress.get(slot.runId ?? '')?.progress ?? null}
            note={progress.get(slot.runId ?? '')?.note ?? null}
          />
        ))}
      </Body>
    </Table>
  )
}

interface RowProps {
  readonly slot: SlotView
  readonly value: number | null
  readonly note: string | null
}

function ThreadRow({ slot, value, note }: RowProps): ReactNode {
  const now = useNow()
  const isStopping = slot.state === 'stopping'
  const words = remark(slot, note)
  const silent = slot.silentMs === null ? null : duration(growing(slot, slot.silentMs, now))
  return (
    <Tr>
      <Td className="num c-th mute">{slot.slot}</Td>
      <Td className="c-run">
        {slot.runId === null ? (
          <span className="mute">–</span>
        ) : (
          <Link className="id" href={`/runs/${slot.runId}`}>
            {slot.runId}
          </Link>
        )}{' '}
        <span className="only-s">{slot.task}</span>
      </Td>
      <Td className="hide-s">{slot.task}</Td>
      <Td className="c-prog">
        {value === null ? (
          <span className="mute">–</span>
        ) : (
          <Progress value={value} tone={isStopping ? 'stopping' : 'running'} />
        )}
      </Td>
      <Td className="num" data-l="CPU">
        {slot.cpuPercent === null ? '–' : percent(slot.cpuPercent)}
      </Td>
      <Td className="num" data-l="heap">
        {slot.heapMb === null ? '–' : megabytes(slot.heapMb)}
      </Td>
      <Td className="num" data-l="silent">
        {silent ?? '–'}
      </Td>
      <Td className="gap c-what fill">
        {isStopping || words !== '' ? (
          <span className="withbar">
            {isStopping ? (
              <Badge tone="stopping" glyph="stopping">
                stopping
              </Badge>
            ) : null}
            <span className="cut mute" title={words}>
              {words}
            </span>
          </span>
        ) : null}
      </Td>
    </Tr>
  )
}

function remark(slot: SlotView, note: string | null): string {
  if (slot.state === 'stopping' && slot.stoppingFor !== null) return visibleText(slot.stoppingFor)
  const own = slot.isolation === 'process' ? 'in a process of its own' : ''
  return [note === null ? '' : visibleText(note), own].filter((part) => part !== '').join('; ')
}
