/** One workflow: its graph, live, with the critical path; its steps as a table; pause, cancel, retry what failed. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { StepView, WorkflowView } from '../../api/run-contract.ts'
import { useData } from '../../api/use-data.ts'
import { useNow } from '../../live/use-now.ts'
import { WorkflowBadge } from '../../parts/badge.tsx'
import { Card, Empty, FigureLine, Head, Pending } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { JsonCard } from '../../parts/json/json-view.tsx'
import { duration } from '../../words/durations.ts'
import { type EndResult, endResultOf } from '../../words/end-result.ts'
import { visibleText } from '../../words/visible-text.ts'
import { WorkflowGraph } from './graph.tsx'
import { StepsCard } from './steps-card.tsx'
import { useSteps } from './use-steps.ts'
import { WorkflowActions } from './workflow-actions.tsx'

export default function WorkflowPage({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useData<WorkflowView>(`/workflows/${id}`, { topic: `workflow:${id}`, everyMs: 2_000 })
  const steps = useSteps(id, data?.progress.total)
  if (data === undefined)
    return (
      <>
        <Head title={`Workflow ${id}`} />
        <Card label="Workflow">
          <Pending error={error} rows={8} />
        </Card>
      </>
    )
  return <Loaded workflow={data} steps={steps} />
}

function Loaded({
  workflow,
  steps,
}: {
  readonly workflow: WorkflowView
  readonly steps: readonly StepView[] | undefined
}): ReactNode {
  const now = useNow()
  const end = workflow.finishedAt === null ? now : Date.parse(workflow.finishedAt)
  return (
    <>
      <Head title={workflow.name} className="run" before={<WorkflowBadge status={workflow.status} big />}>
        <span className="idl">
          <span className="id mute">{workflow.id}</span>
          <Copy text={workflow.id} label="Copy the workflow id" />
        </span>
        <FigureLine
          of={[
            { name: 'steps ended', value: workflow.progress.ended, unit: ` / ${workflow.progress.total}` },
            {
              name: workflow.finishedAt === null ? 'running for' : 'took',
              value: duration(end - Date.parse(workflow.createdAt)),
            },
            { name: 'failed', value: workflow.steps.FAILED ?? 0 },
          ]}
        />
      </Head>
      <EndCard workflow={workflow} />
      <Card title="Steps" sub={<span className="only-l">the critical path has a frame; ctrl and wheel zoom</span>}>
        {steps === undefined ? (
          <Pending error={null} rows={6} />
        ) : steps.length === 0 ? (
          <Empty title="No steps">
            <p>The database has no step of this workflow.</p>
          </Empty>
        ) : (
          <WorkflowGraph steps={steps} ended={workflow.finishedAt !== null} />
        )}
      </Card>
      <div className="cols">
        <div className="stack">
          {steps === undefined || steps.length === 0 ? null : (
            <StepsCard steps={steps} total={workflow.progress.total} now={now} workflow={workflow.id} />
          )}
        </div>
        <aside className="stack">
          <WorkflowActions workflow={workflow} />
          <Facts workflow={workflow} />
          {workflow.input === null || workflow.input === undefined ? null : (
            <JsonCard title="Input" text={JSON.stringify(workflow.input)} />
          )}
          {workflow.result === null || workflow.result === undefined || endOf(workflow) !== undefined ? null : (
            <JsonCard title="Result" text={JSON.stringify(workflow.result)} />
          )}
        </aside>
      </div>
    </>
  )
}

/** Why the workflow did not succeed, and the step that decided it. */
function EndCard({ workflow }: { readonly workflow: WorkflowView }): ReactNode {
  const end = endOf(workflow)
  if (end === undefined) return null
  return (
    <Card
      title={<span className={workflow.status === 'FAILED' ? 'bad' : ''}>{end.code}</span>}
      sub={end.step === undefined ? undefined : `step ${visibleText(end.step)}`}
    >
      <p className="trace">{visibleText(end.detail)}</p>
    </Card>
  )
}

function endOf({ status, result }: WorkflowView): EndResult | undefined {
  return status === 'FAILED' || status === 'CANCELLED' ? endResultOf(result) : undefined
}

function Facts({ workflow }: { readonly workflow: WorkflowView }): ReactNode {
  return (
    <Card title="Workflow">
      <dl className="facts pad">
        <dt>On error</dt>
        <dd>{{ fail: 'fails', pause: 'pauses', continue: 'continues' }[workflow.onError]}</dd>
        {workflow.pausedBy === null ? null : (
          <>
            <dt>Paused by</dt>
            <dd>{workflow.pausedBy}</dd>
          </>
        )}
        {workflow.endsAs === null || workflow.finishedAt !== null ? null : (
          <>
            <dt>Will end</dt>
            <dd className="warn">{workflow.endsAs}, when what still runs has ended</dd>
          </>
        )}
        {workflow.parentRunId === null ? null : (
          <>
            <dt>Part of</dt>
            <dd>
              <Link className="link id" href={`/runs/${workflow.parentRunId}`}>
                {workflow.parentRunId}
              </Link>
            </dd>
          </>
        )}
      </dl>
    </Card>
  )
}
