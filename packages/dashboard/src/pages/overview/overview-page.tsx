/** The attention items first; then the queues, the throughput and the nodes. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Items, Node, Overview, QueueView } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { allNodes } from '../../live/apply-frames.ts'
import { Card, Empty, FigureLine, Head, Pending } from '../../parts/card.tsx'
import { QueuesTable } from '../../parts/queues-table.tsx'
import { type SlotCounts, slotCountsOf } from '../../parts/strip.tsx'
import { boundedLabel, rate } from '../../words/numbers.ts'
import { AttentionCard } from './attention-card.tsx'
import { NodesCard } from './nodes-card.tsx'
import { ThroughputCard } from './throughput-card.tsx'

export function OverviewPage(): ReactNode {
  const { data } = useData<Overview>('/overview', { topic: 'overview' })
  // From the same data as the strips below: the two would differ by the time between them.
  const nodes = useData<Items<Node>>(allNodes, { topic: 'nodes' }).data
  return (
    <>
      <Head title="Overview">
        {data === undefined ? null : (
          <OverviewFigures overview={data} slots={nodes === undefined ? data.slots : slotCountsOf(nodes.items)} />
        )}
      </Head>
      <AttentionCard />
      <QueuesCard />
      <div className="cols even">
        <ThroughputCard />
        <NodesCard />
      </div>
    </>
  )
}

interface OverviewFiguresProps {
  readonly overview: Overview
  readonly slots: SlotCounts
}

function OverviewFigures({ overview, slots }: OverviewFiguresProps): ReactNode {
  const { nodes } = overview
  return (
    <FigureLine
      of={[
        { name: 'slots busy', value: slots.busy, unit: ` / ${slots.total}` },
        { name: 'finished/s', value: rate(overview.succeededPerS) },
        { name: 'failed/s', value: rate(overview.failedPerS) },
        { name: 'ready', value: boundedLabel(overview.ready) },
        { name: 'live nodes', value: nodes.alive + nodes.draining },
      ]}
    />
  )
}

/** The queues that need to be seen are not cut off; the others are a click away. */
const shownMax = 12

function QueuesCard(): ReactNode {
  const { data, error } = useData<Items<QueueView>>('/queues', { topic: 'queues' })
  const queues = data?.items ?? []
  const shown = queues.length <= shownMax ? queues : mostUrgent(queues)
  return (
    <Card
      title="Queues"
      sub={data === undefined ? undefined : queues.length}
      end={
        <Link href="/queues" className="btn ghost">
          All queues
        </Link>
      }
    >
      {data === undefined ? (
        <Pending error={error} rows={5} />
      ) : queues.length === 0 ? (
        <Empty title="No queue yet" command="q enqueue <task>">
          <p>A queue exists from the first run that is enqueued into it.</p>
        </Empty>
      ) : (
        <QueuesTable queues={shown} />
      )}
    </Card>
  )
}

function mostUrgent(queues: readonly QueueView[]): QueueView[] {
  const urgency = (queue: QueueView) =>
    (queue.unserved.length > 0 ? 1e12 : 0) + (queue.paused ? 1e11 : 0) + (queue.oldestReadyMs ?? -1)
  return queues.toSorted((a, b) => urgency(b) - urgency(a)).slice(0, shownMax)
}
