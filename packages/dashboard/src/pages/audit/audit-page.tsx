/** The actions of people and programs, through the page, the API or the command line, with their results. */
import type { ReactNode } from 'react'
import type { Action } from '../../api/contract.ts'
import { usePages } from '../../api/use-pages.ts'
import { Empty, Head } from '../../parts/card.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { At } from '../../parts/time.tsx'
import { detailWords } from '../../words/detail-words.ts'
import { visibleText } from '../../words/visible-text.ts'

export function AuditPage(): ReactNode {
  const list = usePages<Action>('/actions?limit=50')
  const empty = (
    <Empty title="No action yet">
      <p>Every drain, cancel, retry, pause and enqueue by a person is listed here.</p>
    </Empty>
  )
  const head = (
    <>
      <Th>At</Th>
      <Th>By</Th>
      <Th>Via</Th>
      <Th>Action</Th>
      <Th>Subject</Th>
      <Th>Detail</Th>
      <Th>Answer</Th>
    </>
  )
  return (
    <>
      <Head title="Audit" />
      <ListCard label="Actions" list={list} empty={empty}>
        {(actions) => (
          <Table label="Actions" className="sticky" head={head}>
            <Body>
              {actions.map((action) => (
                // A count changed nothing; the page makes one before each question.
                <Tr key={action.id} className={action.answer === 'counted' ? 'r mute' : 'r'}>
                  <Td className="mute">
                    <At at={action.at} />
                  </Td>
                  <Td className="end">
                    <b>{visibleText(action.by)}</b>
                  </Td>
                  <Td className="hide-s mute">{action.via}</Td>
                  <Td>{action.what}</Td>
                  <Td className="end any">{visibleText(action.subject)}</Td>
                  <Td className="fill whole">
                    <span className="cut soft" title={visibleText(JSON.stringify(action.detail) ?? '')}>
                      {detailWords(action.detail)}
                    </span>
                  </Td>
                  <Td className={isCode(action.answer) ? 'bad' : ''}>{action.answer}</Td>
                </Tr>
              ))}
            </Body>
          </Table>
        )}
      </ListCard>
    </>
  )
}

/** Whether the answer is the code of a refusal. */
function isCode(answer: string): boolean {
  return /^[A-Z][A-Z_]+$/.test(answer)
}
