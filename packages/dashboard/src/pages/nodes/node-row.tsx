/** One node as a row, and what opens under it. */
import { memo, type ReactNode } from 'react'
import type { Node } from '../../api/contract.ts'
import { growing } from '../../live/received.ts'
import { useAtNow, useNow } from '../../live/use-now.ts'
import { useOnScreen } from '../../live/use-on-screen.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { NodeBadge } from '../../parts/badge.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { BeatAge, Meter } from '../../parts/meter.tsx'
import { NodeName } from '../../parts/node-name.tsx'
import { busySlots, Strip } from '../../parts/strip.tsx'
import { Td, Tr } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'
import { megabytes, percent } from '../../words/numbers.ts'
import { clockTime } from '../../words/times.ts'
import { DrainPanel } from './drain-panel.tsx'
import { LostPanel } from './lost-panel.tsx'
import { ThreadsPanel } from './threads-panel.tsx'

interface Props {
  readonly node: Node
  readonly isOpen: boolean
  readonly isCurrent: boolean
  readonly onToggle: (id: string, isOpen: boolean) => void
  readonly onDrain: (id: string) => void
}

/** Drawn again when its node changes, not when another one does. */
export const NodeRow = memo(function NodeRow({ node, isOpen, isCurrent, onToggle, onDrain }: Props): ReactNode {
  const isLiving = node.state === 'alive' || node.state === 'draining'
  const [row, isOnScreen] = useOnScreen<HTMLTableRowElement>()
  const none = <span className="mute">–</span>
  return (
    <>
      <Tr ref={row} className={isCurrent ? 'r cur' : 'r'}>
        <Td className="c-name">
          <button
            type="button"
            className="twist"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Close' : 'Open'} ${node.name}`}
            onClick={() => onToggle(node.id, !isOpen)}
          >
            <Glyph name={isOpen ? 'open' : 'shut'} />
          </button>
          <NodeName node={node} />
        </Td>
        <Td className="c-state">
          <NodeBadge node={node} />
        </Td>
        <Td className="c-beat">
          <HeartbeatAge node={node} isOnScreen={isOnScreen} />
        </Td>
        <Td className="c-slots">
          {isLiving ? (
            <span className="withbar">
              <Strip node={node} />
              <span className="tn">
                {busySlots(node)}/{node.slots}
              </span>
            </span>
          ) : (
            none
          )}
        </Td>
        <Td className="num" data-l="CPU">
          {isLiving ? percent(node.cpuPercent) : none}
        </Td>
        <Td className="num" data-l="mem">
          {isLiving ? megabytes(node.memoryMb) : none}
        </Td>
        <Td className="hide-s hide-m gap">
          <Health node={node} />
        </Td>
        <Td className="hide-s hide-m">{node.version}</Td>
        <Td className="num" data-l="up">
          <Uptime node={node} isOnScreen={isOnScreen} />
        </Td>
        <Td className="c-act num">
          {node.state === 'alive' ? <ActButton onClick={() => onDrain(node.id)}>Drain…</ActButton> : null}
        </Td>
      </Tr>
      {isOpen ? (
        <Tr className="sub">
          <Td colSpan={10}>
            <NodeDetails node={node} />
          </Td>
        </Tr>
      ) : null}
    </>
  )
})

function NodeDetails({ node }: { readonly node: Node }): ReactNode {
  switch (node.state) {
    case 'alive':
      return <ThreadsPanel node={node} />
    case 'draining':
      return <DrainPanel node={node} />
    case 'stale':
    case 'stopped':
      return <LostPanel node={node} />
  }
}

interface AgeProps {
  readonly node: Node
  readonly isOnScreen?: boolean
}

export function HeartbeatAge({ node, isOnScreen = true }: AgeProps): ReactNode {
  const now = useNow(isOnScreen)
  if (node.state === 'stopped')
    return <span className="mute nw">left cleanly {node.stoppedAt === null ? '' : <Ago at={node.stoppedAt} />}</span>
  if (node.state === 'stale' && node.goneAt !== null)
    return (
      <span className="withbar">
        <Meter value={100} tone="lost" />
        <span className="nw bad">presence lost {clockTime(new Date(node.goneAt))}</span>
      </span>
    )
  if (node.beatAgeMs === null) return <span className="bad">no heartbeat</span>
  return <BeatAge ageMs={growing(node, node.beatAgeMs, now)} staleMs={node.thresholds.replicaStaleMs} />
}

function Health({ node }: { readonly node: Node }): ReactNode {
  if (node.state === 'stopped') return <span className="mute">–</span>
  if (node.state === 'stale' || node.health === 'unknown') return <span className="mute">unknown</span>
  return (
    <span className={node.health === 'healthy' ? '' : node.health === 'degraded' ? 'warn' : 'bad'}>{node.health}</span>
  )
}

function Uptime({ node, isOnScreen = true }: AgeProps): ReactNode {
  const [began, end] = [Date.parse(node.startedAt), node.stoppedAt ?? node.goneAt]
  const hasEnded = end !== null && node.state !== 'alive'
  return useAtNow((now) => (hasEnded ? `was ${duration(Date.parse(end) - began)}` : duration(now - began)), isOnScreen)
}
