/** Queues with their oldest waiting run first: the number that tells a stalled queue from a busy one. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { QueueView } from '../api/contract.ts'
import { useSeries } from '../api/use-series.ts'
import { duration } from '../words/durations.ts'
import { boundedLabel, countLabel, rate } from '../words/numbers.ts'
import { oldestTone, Outlook, QueueState } from './queue-state.tsx'
import { Spark } from './spark.tsx'
import { Body, Table, Td, Th, Tr } from './table.tsx'

export function QueuesTable({ queues }: { readonly queues: readonly QueueView[] }): ReactNode {
  const head = (
    <>
      <Th>Queue</Th>
      <Th className="num">Oldest ready</Th>
      <Th className="num">Ready</Th>
      <Th className="num">Running</Th>
      <Th className="num">Done/s</Th>
      <Th className="num">Failed/s</Th>
      <Th className="num">Wait p50</Th>
      <Th className="num">p95</Th>
      <Th className="gap hide-m">Ready, 30 min</Th>
      <Th>State</Th>
      <Th>Outlook</Th>
    </>
  )
  return (
    <Table label="Queues" className="t-q" head={head}>
      <Body>
        {queues.map((queue) => (
          <QueueRow key={queue.queue} queue={queue} />
        ))}
      </Body>
    </Table>
  )
}

function QueueRow({ queue }: { readonly queue: QueueView }): ReactNode {
  const { rates } = queue
  return (
    <Tr>
      <Td className="c-name">
        <Link href={`/queues/${encodeURIComponent(queue.queue)}`}>
          <b>{queue.queue}</b>
        </Link>
      </Td>
      <Td className={`num ${oldestTone(queue)}`} data-l="oldest">
        {queue.oldestReadyMs === null ? '–' : duration(queue.oldestReadyMs)}
      </Td>
      <Td className="num" data-l="ready">
        {boundedLabel(queue.ready)}
      </Td>
      <Td className="num hide-s">{countLabel(queue.running + queue.claimed)}</Td>
      <Td className="num hide-s">{rate(rates?.succeededPerS)}</Td>
      <Td className={`num hide-s ${(rates?.failedPerS ?? 0) >= 0.05 ? 'bad' : 'mute'}`}>{rate(rates?.failedPerS)}</Td>
      <Td className="num hide-s">{rates?.waitP50Ms == null ? '–' : duration(rates.waitP50Ms)}</Td>
      <Td className="num" data-l="p95">
        {rates?.waitP95Ms == null ? '–' : duration(rates.waitP95Ms)}
      </Td>
      <Td className="hide-s hide-m gap">
        <ReadySpark queue={queue.queue} />
      </Td>
      <Td className="c-state">
        <QueueState queue={queue} />
      </Td>
      <Td className="hide-s mute fill">
        <span className="cut">
          <Outlook queue={queue} />
        </span>
      </Td>
    </Tr>
  )
}

function ReadySpark({ queue }: { readonly queue: string }): ReactNode {
  const points = useSeries('ready', { queue, lastMs: 1_800_000, points: 30 })
  return <Spark values={points.flatMap(({ value }) => (value == null ? [] : [value]))} />
}
