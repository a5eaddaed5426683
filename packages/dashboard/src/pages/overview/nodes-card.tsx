/** The nodes in two lines each: what they do, and how fresh that is. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Items, Node } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { allNodes } from '../../live/apply-frames.ts'
import { growing } from '../../live/received.ts'
import { useNow } from '../../live/use-now.ts'
import { NodeBadge } from '../../parts/badge.tsx'
import { Card, Empty, Pending } from '../../parts/card.tsx'
import { busySlots, Strip } from '../../parts/strip.tsx'
import { Ago } from '../../parts/time.tsx'
import { duration, roughly, seconds } from '../../words/durations.ts'
import { megabytes, percent } from '../../words/numbers.ts'
import { byName, NodeName } from '../../parts/node-name.tsx'

const shownMax = 5

export function NodesCard(): ReactNode {
  const { data, error } = useData<Items<Node>>(allNodes, { topic: 'nodes' })
  const shown = (data?.items ?? []).filter(({ state }) => state !== 'stopped')
  return (
    <Card
      title="Nodes"
      end={
        <Link href="/nodes" className="btn ghost">
          All nodes
        </Link>
      }
    >
      {data === undefined ? (
        <Pending error={error} rows={4} />
      ) : shown.length === 0 ? (
        <Empty title="No node is alive" command="q start">
          <p>Runs wait until one starts.</p>
        </Empty>
      ) : (
        <ul className="nodes">
          {mostUrgent(shown).map((node) => (
            <NodeItem key={node.id} node={node} />
          ))}
          {shown.length > shownMax ? (
            <li className="mute">
              <Link href="/nodes">and {shown.length - shownMax} more</Link>
            </li>
          ) : null}
        </ul>
      )}
    </Card>
  )
}

/** Lost nodes last: the attention card names those that hold runs. */
function mostUrgent(nodes: readonly Node[]): readonly Node[] {
  const order = ['draining', 'alive', 'stale', 'stopped']
  return byName(nodes)
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
    .slice(0, shownMax)
}

function NodeItem({ node }: { readonly node: Node }): ReactNode {
  const now = useNow()
  const isLost = node.state === 'stale'
  const age = node.beatAgeMs === null ? null : growing(node, node.beatAgeMs, now)
  return (
    <li>
      <span className="l1">
        <NodeName node={node} />
        <NodeBadge node={node} />
        <span className="withbar">
          <Strip node={node} />
          <span>{isLost ? '–' : `${busySlots(node)}/${node.slots}`}</span>
        </span>
      </span>
      <span className="l2">
        <span className="cut">
          <Remark node={node} />
        </span>
        <span className="nw">
          {isLost ? (
            node.goneAt === null ? (
              'silent'
            ) : (
              <Ago at={node.goneAt} />
            )
          ) : age === null ? (
            'no heartbeat'
          ) : (
            `beat ${seconds(age)} of ${seconds(node.thresholds.replicaStaleMs)} s`
          )}
        </span>
      </span>
    </li>
  )
}

function Remark({ node }: { readonly node: Node }): ReactNode {
  const now = useNow()
  if (node.state === 'draining' && node.drain !== null) {
    const { by, deadline } = node.drain
    const leftMs = deadline === null ? null : Date.parse(deadline) - now
    const left = leftMs === null ? 'no deadline' : leftMs > 0 ? `deadline in ${duration(leftMs)}` : 'deadline passed'
    return `${by === null ? '' : `by ${by}, `}${left}`
  }
  if (node.state === 'stale') return node.presence === 'gone' ? 'its session ended' : 'its heartbeats stopped'
  const stopping = node.threads.filter(({ state }) => state === 'stopping').length
  const parts = [
    `CPU ${percent(node.cpuPercent)}`,
    megabytes(node.memoryMb),
    stopping > 0 ? `${stopping} stopping` : `up ${roughly(node.uptimeS * 1_000)}`,
  ]
  return parts.join(' · ')
}
