/** The actions on a run, each with its command. */
import { useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { RunDetail } from '../../api/run-contract.ts'
import { useAct } from '../../api/use-act.ts'
import { useKeys } from '../../app/keys.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Card } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { AgainDialog } from './again-dialog.tsx'

export function ActionsCard({ detail }: { readonly detail: RunDetail }): ReactNode {
  const { run } = detail
  const [asking, setAsking] = useState<'cancel' | 'retry' | 'again'>()
  const [, navigate] = useLocation()
  const { act, busy } = useAct()
  const isEnded = run.finishedAt !== null
  const close = () => setAsking(undefined)
  const isHeld = run.status === 'RUNNING' || run.status === 'CLAIMED'
  useKeys({ r: () => isEnded && setAsking('retry'), c: () => !isEnded && setAsking('cancel') })

  async function cancel(): Promise<void> {
    const done = ({ answer }: { answer: string }) =>
      answer === 'requested' ? `Run ${run.id} is being stopped.` : `Run ${run.id} is cancelled.`
    await act<{ answer: string }>({ method: 'POST', path: `/runs/${run.id}/cancel`, done })
    close()
  }
  async function retry(): Promise<void> {
    await act({ method: 'POST', path: `/runs/${run.id}/retry`, done: () => `Run ${run.id} starts again.` })
    close()
  }
  return (
    <Card title="Actions" className="o2">
      <div className="pad stack8">
        {isEnded ? (
          <ActRow command={`q retry ${run.id}`} label="Retry…" onClick={() => setAsking('retry')} busy={busy} />
        ) : (
          <ActRow
            command={`q cancel ${run.id}`}
            label={run.cancelRequestedAt === null ? 'Cancel…' : 'Stopping'}
            onClick={() => setAsking('cancel')}
            busy={busy || run.cancelRequestedAt !== null}
          />
        )}
        <ActRow command={`q again ${run.id}`} label="Run again…" onClick={() => setAsking('again')} busy={busy} />
        <div className="acts-row">
          <a className="btn" href="#logs">
            Logs
          </a>
          <CliLine command={`q logs ${run.id} -f`} />
        </div>
      </div>
      {asking === 'cancel' ? (
        <Confirm
          title={`Cancel run ${run.id}?`}
          lead={
            isHeld
              ? 'Its code is asked to stop; if it does not, its thread is ended. It becomes CANCELLED.'
              : 'It has not started and ends CANCELLED at once.'
          }
          command={`q cancel ${run.id}`}
          button="Cancel this run"
          danger
          busy={busy}
          onConfirm={() => void cancel()}
          onClose={close}
        />
      ) : null}
      {asking === 'retry' ? (
        <Confirm
          title={`Retry run ${run.id}?`}
          lead={`It starts again with the same payload${run.status === 'SUCCEEDED' ? ', although it succeeded' : ''}. Its attempts count from 1 again; its checkpoint and its history stay.`}
          command={`q retry ${run.id}`}
          button="Retry this run"
          undoable={run.status !== 'SUCCEEDED'}
          busy={busy}
          onConfirm={() => void retry()}
          onClose={close}
        />
      ) : null}
      {asking === 'again' ? (
        <AgainDialog detail={detail} onClose={close} onRun={(id) => (close(), navigate(`/runs/${id}`))} />
      ) : null}
    </Card>
  )
}

interface RowProps {
  readonly command: string
  readonly label: string
  readonly busy: boolean
  readonly onClick: () => void
}

function ActRow({ command, label, busy, onClick }: RowProps): ReactNode {
  return (
    <div className="acts-row">
      <ActButton disabled={busy} onClick={onClick}>
        {label}
      </ActButton>
      <CliLine command={command} />
    </div>
  )
}
