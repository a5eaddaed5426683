/** Errors that are the same error, once: what, where, how often, since when. */
import type { ReactNode } from 'react'
import { Link, useSearch } from 'wouter'
import type { ErrorGroup } from '../../api/contract.ts'
import { usePages } from '../../api/use-pages.ts'
import { Empty, Head } from '../../parts/card.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { SparkBars } from '../../parts/spark.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { countLabel } from '../../words/numbers.ts'
import { visibleText } from '../../words/visible-text.ts'

export function ErrorsPage(): ReactNode {
  const isMuted = useSearch() === 'muted=true'
  const list = usePages<ErrorGroup>(`/errors?muted=${isMuted}&limit=50`)
  const empty = isMuted ? (
    <Empty title="Nothing is muted" />
  ) : (
    <Empty title="No errors">
      <p>Errors are kept for a while after they were last seen. Nothing failed in that time.</p>
    </Empty>
  )
  return (
    <>
      <Head title="Errors" />
      <Tabs
        label="Errors"
        path="/errors"
        tabs={[
          { query: '', label: 'Open' },
          { query: 'muted=true', label: 'Muted' },
        ]}
      />
      <ListCard label="Errors" list={list} empty={empty}>
        {(groups) => (
          <Table label="Errors" className="t-e" head={<ErrorHead />}>
            <Body>
              {groups.map((group) => (
                <ErrorRow key={group.fingerprint} group={group} />
              ))}
            </Body>
          </Table>
        )}
      </ListCard>
    </>
  )
}

function ErrorHead(): ReactNode {
  return (
    <>
      <Th>Error</Th>
      <Th>Task</Th>
      <Th className="hide-m">Last 24 h</Th>
      <Th className="num">Seen</Th>
      <Th className="num">First</Th>
      <Th className="num">Last</Th>
    </>
  )
}

/** The class of the error and where it was thrown; an end that q decides, such as a timeout, has neither. */
function placeOf({ code, name, place }: ErrorGroup): string {
  const parts = [...(name === code ? [] : [name]), ...(place === null ? [] : [visibleText(place)])]
  return parts.length === 0 ? 'not thrown by the code' : parts.join(', ')
}

function ErrorRow({ group }: { readonly group: ErrorGroup }): ReactNode {
  const [task = '', ...others] = group.tasks
  return (
    <Tr>
      <Td className="fill c-msg two-lines whole">
        <Link className="cut" href={`/errors/${group.fingerprint}`}>
          <b className="bad">{group.code}</b> {visibleText(group.message === '' ? group.name : group.message)}
        </Link>
        <span className="cut mute mono">{placeOf(group)}</span>
      </Td>
      <Td>
        {task}
        {others.length === 0 ? '' : <span className="mute"> and {others.length} more</span>}
      </Td>
      <Td className="hide-s hide-m">
        <SparkBars values={group.hours.map(({ seen }) => seen)} tone="failed" />
      </Td>
      <Td className="num" data-l="seen">
        {countLabel(group.seen)}
      </Td>
      <Td className="num hide-s mute">
        <Ago at={group.firstSeen} />
      </Td>
      <Td className="num end mute">
        <Ago at={group.lastSeen} />
      </Td>
    </Tr>
  )
}
