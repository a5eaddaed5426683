/** The destinations, with the state of their reports; pause, resume, test, and send again what was given up. */
import type { ReactNode } from 'react'
import type { Bounded, Destination } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useData } from '../../api/use-data.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Card, Empty, Pending } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { visibleText } from '../../words/visible-text.ts'

export function DestinationsCard(): ReactNode {
  const { data, error } = useData<{ readonly items: readonly Destination[] }>('/destinations')
  return (
    <Card title="Destinations">
      {data === undefined ? (
        <Pending error={error} rows={2} />
      ) : data.items.length === 0 ? (
        <Empty title="No destination">
          <p>A destination, such as a webhook, receives reports about runs.</p>
          <CliLine command="q destinations add hook.json" />
        </Empty>
      ) : (
        <DestinationsTable destinations={data.items} />
      )}
    </Card>
  )
}

function DestinationsTable({ destinations }: { readonly destinations: readonly Destination[] }): ReactNode {
  const head = (
    <>
      <Th>State</Th>
      <Th>Name</Th>
      <Th>Kind</Th>
      <Th>Reports</Th>
      <Th className="num">Waiting</Th>
      <Th className="num">Given up</Th>
      <Th>Last error</Th>
      <Th>Actions</Th>
    </>
  )
  return (
    <Table label="Destinations" head={head}>
      <Body>
        {destinations.map((destination) => (
          <Tr key={destination.name}>
            <Td>
              <DestinationState destination={destination} />
            </Td>
            <Td className="end">{destination.name}</Td>
            <Td>{destination.kind}</Td>
            <Td className="soft">{destination.reports.join(', ')}</Td>
            <Td className="num" data-l="waiting">
              {bounded(destination.waiting)}
            </Td>
            <Td className="num end" data-l="given up">
              {bounded(destination.givenUp)}
            </Td>
            <Td className="fill whole">
              <span className="cut mono mute" title={destination.lastError ?? ''}>
                {visibleText(destination.lastError ?? '')}
              </span>
            </Td>
            <Td>
              <Actions destination={destination} />
            </Td>
          </Tr>
        ))}
      </Body>
    </Table>
  )
}

function DestinationState({ destination }: { readonly destination: Destination }): ReactNode {
  const { pausedAt, pausedBy, pauseReason, lastError, sender } = destination
  if (pausedAt !== null)
    return (
      <span title={[`by ${pausedBy ?? 'plain SQL'}`, pauseReason ?? ''].filter((part) => part !== '').join(': ')}>
        <Badge tone="pending" glyph="pending">
          paused
        </Badge>
      </span>
    )
  return (
    <span title={sender === null ? 'no node sends its reports' : `sent by ${sender}`}>
      {lastError === null ? (
        <Badge tone="succeeded" glyph="succeeded">
          sending
        </Badge>
      ) : (
        <Badge tone="failed" glyph="failed">
          failing
        </Badge>
      )}
    </span>
  )
}

function Actions({ destination: { name, pausedAt, givenUp } }: { readonly destination: Destination }): ReactNode {
  const { act, busy } = useAct()
  const path = `/destinations/${encodeURIComponent(name)}`
  const isPaused = pausedAt !== null
  const toggle = () =>
    act({
      method: 'POST',
      path: `${path}/${isPaused ? 'resume' : 'pause'}`,
      body: {},
      done: () => (isPaused ? `${name} receives reports again.` : `${name} is paused; its reports are collected.`),
    })
  const test = () =>
    act<{ answer: string; error: string | null }>({
      method: 'POST',
      path: `${path}/test`,
      done: ({ error }) => (error === null ? `${name} accepted a test report.` : `${name} did not: ${error}`),
    })
  const redeliver = () =>
    act<{ redelivered: number }>({
      method: 'POST',
      path: `${path}/redeliver`,
      done: ({ redelivered }) => `${redelivered} reports are sent again.`,
    })
  return (
    <div className="acts-row">
      <ActButton look="ghost" disabled={busy} onClick={() => void toggle()}>
        {isPaused ? 'Resume' : 'Pause'}
      </ActButton>
      <ActButton look="ghost" disabled={busy} onClick={() => void test()}>
        Test
      </ActButton>
      {givenUp.count === 0 ? null : (
        <ActButton look="ghost" disabled={busy} onClick={() => void redeliver()}>
          Redeliver
        </ActButton>
      )}
    </div>
  )
}

function bounded({ count, atLeast }: Bounded): string {
  return `${count}${atLeast ? '+' : ''}`
}
