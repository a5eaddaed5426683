/** Where a node was late: heartbeats that failed, gaps between heartbeats, runs that were recovered from it. */
import type { ReactNode } from 'react'
import type { NodeDetail } from '../../api/contract.ts'
import { Card, Empty } from '../../parts/card.tsx'
import { RecoveriesTable } from '../../parts/recoveries-table.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { At } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'
import { visibleText } from '../../words/visible-text.ts'

export function NodeHistory({ detail }: { readonly detail: NodeDetail }): ReactNode {
  const { gaps, failures, recoveries } = detail
  if (gaps.length + failures.length + recoveries.length === 0)
    return (
      <Card title="History">
        <Empty title="Nothing went wrong">
          <p>No gap between heartbeats, no failed heartbeat, no run recovered from it.</p>
        </Empty>
      </Card>
    )
  return (
    <>
      {gaps.length + failures.length === 0 ? null : (
        <Card title="Late heartbeats" sub="newest first">
          <Table label="Late heartbeats" head={<LateHead />}>
            <Body>
              {gaps.map((gap) => (
                <Tr key={gap.lastBeat}>
                  <Td>
                    <At at={gap.lastBeat} />
                  </Td>
                  <Td className="num">{duration(gap.ms)}</Td>
                  <Td className="soft whole">
                    no heartbeat until <At at={gap.endedAt} />
                  </Td>
                </Tr>
              ))}
              {failures.map((failure) => (
                <Tr key={failure.at}>
                  <Td>
                    <At at={failure.at} />
                  </Td>
                  <Td className="num">{failure.inARow} in a row</Td>
                  <Td className="fill whole">
                    <span className="cut mono" title={visibleText(failure.error)}>
                      {visibleText(failure.error)}
                    </span>
                  </Td>
                </Tr>
              ))}
            </Body>
          </Table>
        </Card>
      )}
      {recoveries.length === 0 ? null : (
        <Card title="Recovered from it" sub={recoveries.length}>
          <RecoveriesTable recoveries={recoveries} ofOneNode />
        </Card>
      )}
    </>
  )
}

function LateHead(): ReactNode {
  return (
    <>
      <Th>From</Th>
      <Th className="num">For</Th>
      <Th>What</Th>
    </>
  )
}
