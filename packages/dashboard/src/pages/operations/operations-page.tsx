/** Operations on everything that matched a filter, newest first. */
import type { ReactNode } from 'react'
import type { Operation } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { usePages } from '../../api/use-pages.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Empty, Head } from '../../parts/card.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { answersOf, OperationBadge, verbOf } from '../../parts/operation-bar.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { detailWords } from '../../words/detail-words.ts'
import { countLabel } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

export function OperationsPage(): ReactNode {
  const list = usePages<Operation>('/operations?limit=50', { everyMs: 2_000 })
  const empty = (
    <Empty title="No operation yet">
      <p>On the page of runs, select everything that matches a filter, then retry or cancel it.</p>
    </Empty>
  )
  const head = (
    <>
      <Th>State</Th>
      <Th>Id</Th>
      <Th>Filter</Th>
      <Th>What became of it</Th>
      <Th>By</Th>
      <Th className="num">Asked</Th>
      <Th>
        <span className="vh">Action</span>
      </Th>
    </>
  )
  return (
    <>
      <Head title="Operations" />
      <ListCard label="Operations" list={list} empty={empty}>
        {(operations) => (
          <Table label="Operations" head={head}>
            <Body>
              {operations.map((operation) => (
                <Row key={operation.id} operation={operation} />
              ))}
            </Body>
          </Table>
        )}
      </ListCard>
    </>
  )
}

function Row({ operation }: { readonly operation: Operation }): ReactNode {
  const { act, busy } = useAct()
  const isOpen = operation.state === 'waiting' || operation.state === 'running'
  return (
    <Tr>
      <Td>
        <OperationBadge operation={operation} />
      </Td>
      <Td className="id end">{operation.id}</Td>
      <Td className="fill whole">
        <span className="cut" title={visibleText(JSON.stringify(operation.filter))}>
          <b>{operation.kind}</b> <span className="soft">{detailWords(operation.filter)}</span>
        </span>
      </Td>
      <Td>
        {verbOf(operation.kind)} {countLabel(operation.changed)}
        {Object.keys(operation.answers).some((answer) => answer !== verbOf(operation.kind)) ? (
          <span className="mute">{answersOf(operation)}</span>
        ) : null}
      </Td>
      <Td className="end">{operation.askedBy}</Td>
      <Td className="num mute">
        <Ago at={operation.askedAt} />
      </Td>
      <Td className="num">
        {isOpen ? (
          <ActButton
            disabled={busy}
            title={`q operations stop ${operation.id}`}
            onClick={() =>
              void act({
                method: 'DELETE',
                path: `/operations/${operation.id}`,
                done: () => 'It stops after its current step.',
              })
            }
          >
            Stop
          </ActButton>
        ) : null}
      </Td>
    </Tr>
  )
}
