/** The steps of a workflow as a table, parents before children. */
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { StepView } from '../../api/run-contract.ts'
import { RunBadge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Body, Table, Td, Th, Tr } from '../../parts/table.tsx'
import { duration } from '../../words/durations.ts'
import { countLabel } from '../../words/numbers.ts'

const perPage = 300

interface Props {
  readonly steps: readonly StepView[]
  /** As many as the workflow has; more than `steps` if it has more than a browser reads. */
  readonly total: number
  readonly now: number
  readonly workflow: string
}

export function StepsCard({ steps, total, now, workflow }: Props): ReactNode {
  const [most, setMost] = useState(perPage)
  const ended = new Set(steps.filter(({ finishedAt }) => finishedAt !== null).map(({ name }) => name))
  const shown = steps.slice(0, most)
  const head = (
    <>
      <Th>State</Th>
      <Th>Step</Th>
      <Th>Task</Th>
      <Th>Run</Th>
      <Th className="num">Attempt</Th>
      <Th className="num">Took</Th>
      <Th>Waits for, outcome</Th>
    </>
  )
  return (
    <Card
      title="All steps"
      sub={shown.length < total ? `the first ${countLabel(shown.length)} of ${countLabel(total)}` : countLabel(total)}
    >
      <Table label="Steps" head={head}>
        <Body>
          {shown.map((step) => (
            <Tr key={step.runId}>
              <Td>
                <RunBadge status={step.status} />
              </Td>
              <Td className="end">
                <b>{step.name}</b>
              </Td>
              <Td className="hide-s">{step.kind === 'task' || step.kind === 'item' ? step.task : step.kind}</Td>
              <Td>
                <Link
                  className="id"
                  href={step.subWorkflowId === null ? `/runs/${step.runId}` : `/workflows/${step.subWorkflowId}`}
                >
                  {step.runId}
                </Link>
              </Td>
              <Td className="num hide-s">{step.attempt === 0 ? '–' : step.attempt}</Td>
              <Td className="num end">
                {step.startedAt === null
                  ? '–'
                  : duration(
                      (step.finishedAt === null ? now : Date.parse(step.finishedAt)) - Date.parse(step.startedAt),
                    )}
              </Td>
              <Td className="fill whole">
                <span className="cut mute">
                  {step.code ??
                    (step.startedAt === null ? step.parents.filter((name) => !ended.has(name)).join(', ') : '')}
                </span>
              </Td>
            </Tr>
          ))}
        </Body>
      </Table>
      {shown.length < steps.length ? (
        <div className="looked">
          <button type="button" className="btn" onClick={() => setMost(most + perPage)}>
            Show more
          </button>
        </div>
      ) : steps.length < total ? (
        <div className="looked">
          <span>The page reads {countLabel(steps.length)} steps; the command line has all.</span>
          <CliLine command={`q workflows show ${workflow}`} />
        </div>
      ) : null}
    </Card>
  )
}
