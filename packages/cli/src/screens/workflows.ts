/** Workflows, one line each, and one with its steps. Pure. */
import type { StepView, WorkflowView } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { ago, long, shortDuration } from '../words/ages.ts'
import { countText } from '../words/counts.ts'
import { runStateText, workflowState } from '../words/states.ts'
import { styled } from '../words/style.ts'
import { table } from '../words/table.ts'

export function workflowsTable(look: Look, workflows: readonly WorkflowView[], now: Date = new Date()): string {
  return table<WorkflowView>(
    look,
    [
      { heading: 'WORKFLOW', cell: ({ id }) => id, align: 'right' },
      { heading: 'STATE', cell: (workflow) => stateOf(look, workflow) },
      { heading: 'NAME', cell: ({ name }) => name, shrink: 10 },
      {
        heading: 'STEPS',
        cell: ({ progress }) => `${countText(progress.ended)}/${countText(progress.total)}`,
        align: 'right',
      },
      { heading: 'FAILED', cell: ({ steps }) => failedOf(look, steps), align: 'right', drop: 2 },
      { heading: 'BEGAN', cell: ({ createdAt }) => ago(createdAt, now), align: 'right', drop: 3 },
      {
        heading: 'FOR',
        cell: ({ createdAt, finishedAt }) => shortDuration((finishedAt ?? now).getTime() - createdAt.getTime()),
        align: 'right',
      },
      { heading: 'NOTE', cell: noteOf, shrink: 12, drop: 1 },
    ],
    workflows,
  )
}

export function workflowScreen(
  look: Look,
  workflow: WorkflowView,
  steps: readonly StepView[],
  now: Date = new Date(),
): string {
  const { id, name, createdAt, finishedAt, progress } = workflow
  const took = long((finishedAt ?? now).getTime() - createdAt.getTime())
  const note = noteOf(workflow)
  return [
    `${styled(look, 'bold', `workflow ${id}`)}  ${name}  ${stateOf(look, workflow)}, ${finishedAt === null ? 'for' : 'took'} ${took}, ${progress.ended} of ${progress.total} steps ended`,
    ...(note === '' ? [] : [`  ${note}`]),
    '',
    stepsTable(look, steps, now),
  ].join('\n')
}

function stepsTable(look: Look, steps: readonly StepView[], now: Date): string {
  return table<StepView>(
    look,
    [
      { heading: 'RUN', cell: ({ runId }) => runId, align: 'right' },
      { heading: 'STATE', cell: ({ status, waitingFor }) => runStateText(look, { status, waitingFor }) },
      { heading: 'STEP', cell: ({ name }) => name, shrink: 10 },
      { heading: 'TASK', cell: ({ task, kind }) => task || kind, shrink: 8, drop: 2 },
      {
        heading: 'TOOK',
        cell: ({ startedAt, finishedAt }) =>
          startedAt === null ? '-' : shortDuration((finishedAt ?? now).getTime() - startedAt.getTime()),
        align: 'right',
      },
      { heading: 'AFTER', cell: ({ parents }) => parents.join(', '), shrink: 8, drop: 3 },
      {
        heading: 'CODE',
        cell: ({ code, status }) => (code === null ? '' : status === 'FAILED' ? styled(look, 'red', code) : code),
        drop: 1,
      },
      { heading: 'INNER', cell: ({ subWorkflowId }) => subWorkflowId ?? '', drop: 4 },
    ],
    steps,
  )
}

function stateOf(look: Look, { status, endsAs }: WorkflowView): string {
  return workflowState(look, status) + (endsAs === null || status === endsAs ? '' : `, ends ${endsAs}`)
}

function failedOf(look: Look, { FAILED = 0 }: WorkflowView['steps']): string {
  return FAILED === 0 ? '-' : styled(look, 'red', countText(FAILED))
}

function noteOf({ status, pausedBy, compensating, result }: WorkflowView): string {
  if (status === 'PAUSED') return pausedBy === null ? 'paused' : `paused by ${pausedBy}`
  if (compensating) return 'compensating'
  if (status !== 'FAILED' || typeof result !== 'object' || result === null) return ''
  const [step, code]: unknown[] = [Reflect.get(result, 'step'), Reflect.get(result, 'code')]
  return [typeof code === 'string' ? code : '', typeof step === 'string' ? `in step ${step}` : ''].join(' ').trim()
}
