/** Every queue. */
import type { ReactNode } from 'react'
import type { Items, QueueView } from '../../api/contract.ts'
import { useData } from '../../api/use-data.ts'
import { Card, Empty, FigureLine, Head, Pending } from '../../parts/card.tsx'
import { QueuesTable } from '../../parts/queues-table.tsx'
import { countLabel, rate } from '../../words/numbers.ts'

export function QueuesPage(): ReactNode {
  const { data, error } = useData<Items<QueueView>>('/queues', { topic: 'queues' })
  const queues = data?.items ?? []
  const sum = (of: (queue: QueueView) => number) => queues.reduce((total, queue) => total + of(queue), 0)
  const isBounded = queues.some(({ ready }) => ready.atLeast)
  return (
    <>
      <Head title="Queues">
        {data === undefined ? null : (
          <FigureLine
            of={[
              { name: 'ready', value: `${countLabel(sum(({ ready }) => ready.count))}${isBounded ? '+' : ''}` },
              { name: 'running', value: countLabel(sum(({ running, claimed }) => running + claimed)) },
              { name: 'done/s', value: rate(sum(({ rates }) => rates?.succeededPerS ?? 0)) },
              { name: 'paused', value: queues.filter(({ paused }) => paused).length },
            ]}
          />
        )}
      </Head>
      <Card label="Queues">
        {data === undefined ? (
          <Pending error={error} rows={6} />
        ) : queues.length === 0 ? (
          <Empty title="No queue yet" command="q enqueue <task>">
            <p>A queue exists from the first run that is enqueued into it.</p>
          </Empty>
        ) : (
          <QueuesTable queues={queues} />
        )}
      </Card>
    </>
  )
}
