/** Runs and workflows, as the API answers with them. */
import type { RunDetail as Detail, RunSummary, Workflow } from '@q/server/client'

export type {
  LogLine,
  LogPage,
  RunAttempt,
  RunDetail,
  RunTexts,
  RunPage,
  RunSummary,
  RunTick,
  Step,
  Why,
  Workflow,
} from '@q/server/client'

export type RunState = RunSummary['status']
export type WorkflowStatus = Workflow['status']
export type RunViewName = 'newest' | 'running' | 'failed' | 'waiting' | 'review' | 'stopping'

export interface RunCount {
  readonly count: number
  readonly atLeast: boolean
  readonly lookedBackTo: string | null
  readonly exhausted: boolean
}

/** One entry of the timeline; which of the optional facts it has depends on `what`. */
export interface TimelineEntry extends Pick<Detail['timeline'][number], 'at' | 'by' | 'what'> {
  readonly fence?: number
  readonly epoch?: number
  readonly attempt?: number
  readonly code?: string | null
  readonly detail?: string | null
  readonly cause?: string
  readonly from?: string
  readonly became?: RunState
  readonly progress?: number | null
  readonly note?: string | null
  readonly status?: RunState
  readonly kind?: string
}
