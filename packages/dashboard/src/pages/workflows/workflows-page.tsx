/** Workflows, newest first, with how far each is. */
import type { ReactNode } from 'react'
import { Link, useSearch } from 'wouter'
import type { WorkflowView } from '../../api/run-contract.ts'
import { usePages } from '../../api/use-pages.ts'
import { useNow } from '../../live/use-now.ts'
import { WorkflowBadge } from '../../parts/badge.tsx'
import { Empty, Head } from '../../parts/card.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { duration } from '../../words/durations.ts'
import { StepCounts } from './step-counts.tsx'

const tabs = [
  { query: '', label: 'All' },
  { query: 'status=RUNNING,PAUSED', label: 'Open' },
  { query: 'status=FAILED', label: 'Failed' },
]

export function WorkflowsPage(): ReactNode {
  const search = useSearch()
  const list = usePages<WorkflowView>(`/workflows?${search}${search === '' ? '' : '&'}limit=50`)
  const empty = (
    <Empty title={search === '' ? 'No workflow yet' : 'No workflow is in this state'}>
      <p>A workflow is a graph of runs: a step starts when its parents have succeeded.</p>
    </Empty>
  )
  const head = (
    <>
      <Th>State</Th>
      <Th>Workflow</Th>
      <Th>Id</Th>
      <Th>Steps</Th>
      <Th className="num">Took</Th>
      <Th className="num">Started</Th>
    </>
  )
  return (
    <>
      <Head title="Workflows" />
      <Tabs label="Workflows" path="/workflows" tabs={tabs} />
      <ListCard label="Workflows" list={list} empty={empty}>
        {(workflows) => (
          <Table label="Workflows" className="sticky" head={head}>
            <Body>
              {workflows.map((workflow) => (
                <Row key={workflow.id} workflow={workflow} />
              ))}
            </Body>
          </Table>
        )}
      </ListCard>
    </>
  )
}

function Row({ workflow }: { readonly workflow: WorkflowView }): ReactNode {
  const now = useNow()
  const end = workflow.finishedAt === null ? now : Date.parse(workflow.finishedAt)
  return (
    <Tr>
      <Td>
        <WorkflowBadge status={workflow.status} />
      </Td>
      <Td className="end">
        <Link href={`/workflows/${workflow.id}`}>
          <b>{workflow.name}</b>
        </Link>
        {workflow.endsAs !== null && workflow.finishedAt === null ? (
          <span className="warn"> ends {workflow.endsAs}</span>
        ) : null}
        {workflow.compensating ? <span className="warn"> compensating</span> : null}
      </Td>
      <Td className="hide-s">
        <Link className="id mute" href={`/workflows/${workflow.id}`}>
          {workflow.id}
        </Link>
      </Td>
      <Td className="fill">
        <StepCounts workflow={workflow} />
      </Td>
      <Td className="num hide-s">{duration(end - Date.parse(workflow.createdAt))}</Td>
      <Td className="num end mute">
        <Ago at={workflow.createdAt} />
      </Td>
    </Tr>
  )
}
