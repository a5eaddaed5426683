/** Reports to the outside: what waits, what arrived, what was given up. */
import type { ReactNode } from 'react'
import { Link, useSearch } from 'wouter'
import type { Delivery } from '../../api/contract.ts'
import { usePages } from '../../api/use-pages.ts'
import { useNow } from '../../live/use-now.ts'
import { Badge } from '../../parts/badge.tsx'
import { Empty, Head } from '../../parts/card.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { relative } from '../../words/durations.ts'
import { visibleText } from '../../words/visible-text.ts'
import { DestinationsCard } from './destinations-card.tsx'
import { RedeliverButton } from './redeliver-button.tsx'

export function DeliveriesPage(): ReactNode {
  const search = useSearch()
  const list = usePages<Delivery>(`/deliveries?${search}${search === '' ? '' : '&'}limit=50`)
  const empty =
    search === '' ? (
      <Empty title="Nothing to deliver">
        <p>No destination has received a report yet.</p>
      </Empty>
    ) : (
      <Empty title="Nothing was given up" />
    )
  const head = (
    <>
      <Th>State</Th>
      <Th>Destination</Th>
      <Th>What</Th>
      <Th>Run</Th>
      <Th className="num">Attempts</Th>
      <Th>Last error</Th>
      <Th className="num">Made</Th>
      <Th>Action</Th>
    </>
  )
  return (
    <>
      <Head title="Deliveries" />
      <DestinationsCard />
      <Tabs
        label="Deliveries"
        path="/deliveries"
        tabs={[
          { query: '', label: 'All' },
          { query: 'givenUp=true', label: 'Given up' },
        ]}
      />
      <ListCard label="Deliveries" list={list} empty={empty}>
        {(deliveries) => (
          <Table label="Deliveries" className="sticky" head={head}>
            <Body>
              {deliveries.map((delivery) => (
                <Tr key={delivery.id}>
                  <Td>
                    <DeliveryState delivery={delivery} />
                  </Td>
                  <Td className="end">{delivery.destination}</Td>
                  <Td>{delivery.kind}</Td>
                  <Td className="end">
                    {delivery.runId === null ? (
                      <span className="mute">–</span>
                    ) : (
                      <Link className="id" href={`/runs/${delivery.runId}`}>
                        {delivery.runId}
                      </Link>
                    )}
                  </Td>
                  <Td className="num" data-l="attempts">
                    {delivery.attempts}
                  </Td>
                  <Td className="fill whole">
                    <span className="cut mono mute" title={delivery.lastError ?? ''}>
                      {visibleText(delivery.lastError ?? '')}
                    </span>
                  </Td>
                  <Td className="num end mute">
                    <Ago at={delivery.createdAt} />
                  </Td>
                  <Td>{delivery.dueAt === null ? <RedeliverButton id={delivery.id} /> : null}</Td>
                </Tr>
              ))}
            </Body>
          </Table>
        )}
      </ListCard>
    </>
  )
}

function DeliveryState({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const now = useNow()
  if (delivery.deliveredAt !== null)
    return (
      <Badge tone="succeeded" glyph="succeeded">
        delivered
      </Badge>
    )
  if (delivery.dueAt === null)
    return (
      <Badge tone="failed" glyph="failed">
        given up
      </Badge>
    )
  return (
    <Badge tone="pending" glyph="pending">
      {delivery.attempts === 0 ? 'due' : 'again'} {relative(now - Date.parse(delivery.dueAt))}
    </Badge>
  )
}
