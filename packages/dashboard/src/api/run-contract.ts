/** Runs and workflows, as the API answers with them. */
import type { RunDetail as Detail, RunSummary } from '@q/server/client'

export type {
  LoggedLine,
  LogPage,
  RunAttempt,
  RunDetail,
  RunCount,
  RunSummary,
  RunSummaryPage,
  RunTexts,
  RunTick,
  RunViewName,
  StepView,
  Why,
  WorkflowStatus,
  WorkflowView,
} from '@q/server/client'

export type RunState = RunSummary['status']

/** One entry of the timeline; which of the optional facts it has depends on `what`. */
export interface TimelineItem extends Pick<Detail['timeline'][number], 'at' | 'by' | 'what'> {
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
