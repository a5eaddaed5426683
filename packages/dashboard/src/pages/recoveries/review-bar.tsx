/** Reviews the selected recoveries, or all that wait for a review. Only a run that its recovery failed can be retried. */
import type { ReactNode } from 'react'
import type { RecoveryView } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useEachRun } from '../../api/use-each-run.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { several } from '../../words/numbers.ts'

interface Props {
  readonly chosen: readonly RecoveryView[]
  readonly isAll: boolean
  readonly onDone: () => void
}

export function ReviewBar({ chosen, isAll, onDone }: Props): ReactNode {
  const { act, busy } = useAct()
  const { each, busy: isRetrying } = useEachRun()
  const failed = chosen.filter(({ needsReview }) => needsReview)
  const runsOf = (recoveries: readonly RecoveryView[]) => [...new Set(recoveries.map(({ runId }) => runId))]
  const [all, retryable] = [runsOf(chosen), runsOf(failed)]
  async function accept(recoveries: readonly RecoveryView[]): Promise<void> {
    await act<{ reviewed: number }>({
      method: 'POST',
      path: '/recoveries/review',
      body: { ids: recoveries.map(({ id }) => id) },
      done: ({ reviewed }) => `${several(reviewed, 'recovery', 'recoveries')} reviewed.`,
    })
    onDone()
  }
  /** The retry itself counts as the review; a run whose retry was refused still waits for one. */
  async function retry(): Promise<void> {
    await each('retry', retryable)
    onDone()
  }
  const isBusy = busy || isRetrying
  return (
    <div className="bulk" role="region" aria-label="Review">
      <b>
        {isAll
          ? `${several(retryable.length, 'run')} to review`
          : `${several(chosen.length, 'recovery', 'recoveries')} selected`}
      </b>
      {isAll ? <span className="mute only-l">running when its node died, onCrash fail</span> : null}
      <span className="grow only-l" />
      <CliLine
        command={retryable.length > 0 ? `q review retry ${retryable.join(' ')}` : `q review accept ${all.join(' ')}`}
      />
      <ActButton disabled={isBusy} onClick={() => void accept(chosen)}>
        {failed.length === chosen.length
          ? `Accept ${several(failed.length, 'failure')}`
          : `Mark ${several(chosen.length, 'recovery', 'recoveries')} reviewed`}
      </ActButton>
      {retryable.length === 0 ? null : (
        <ActButton look="pri" disabled={isBusy} onClick={() => void retry()}>
          Retry {several(retryable.length, 'run')}
        </ActButton>
      )}
    </div>
  )
}
