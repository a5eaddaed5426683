/** Pause, resume, cancel, and retry of what failed: steps after it continue by themselves. */
import { useState, type ReactNode } from 'react'
import type { WorkflowView } from '../../api/run-contract.ts'
import { useAct } from '../../api/use-act.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Card } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { Confirm } from '../../parts/confirm.tsx'

type Kind = 'pause' | 'resume' | 'cancel' | 'retry-failed'

const words: Readonly<Record<Kind, { readonly button: string; readonly lead: string; readonly done: string }>> = {
  pause: {
    button: 'Pause',
    lead: 'No further step starts until it is resumed. Steps that run go on.',
    done: 'The workflow is paused.',
  },
  resume: { button: 'Resume', lead: 'Steps start again.', done: 'The workflow goes on.' },
  cancel: {
    button: 'Cancel',
    lead: 'Running steps are stopped, the others never start. It ends CANCELLED.',
    done: 'The workflow is being cancelled.',
  },
  'retry-failed': {
    button: 'Retry failed',
    lead: 'Steps that failed, were cancelled or skipped start again. Those that succeeded keep their results, and steps after them continue.',
    done: 'The failed steps start again.',
  },
}

export function WorkflowActions({ workflow }: { readonly workflow: WorkflowView }): ReactNode {
  const [asking, setAsking] = useState<Kind>()
  const { act, busy } = useAct()
  const kinds: readonly Kind[] =
    workflow.status === 'RUNNING'
      ? ['pause', 'cancel']
      : workflow.status === 'PAUSED'
        ? ['resume', 'cancel']
        : workflow.status === 'SUCCEEDED'
          ? []
          : ['retry-failed']
  if (kinds.length === 0) return null
  const command = (kind: Kind) => `q workflows ${kind} ${workflow.id}`
  const run = async (kind: Kind) => {
    await act({ method: 'POST', path: `/workflows/${workflow.id}/${kind}`, done: () => words[kind].done })
    setAsking(undefined)
  }
  return (
    <Card title="Actions" className="o2">
      <div className="pad stack8">
        {kinds.map((kind) => (
          <div key={kind} className="acts-row">
            <ActButton
              disabled={busy}
              look={kind === 'retry-failed' || kind === 'resume' ? 'pri' : ''}
              onClick={() => setAsking(kind)}
            >
              {words[kind].button}…
            </ActButton>
            <CliLine command={command(kind)} />
          </div>
        ))}
      </div>
      {asking === undefined ? null : (
        <Confirm
          title={`${words[asking].button} ${workflow.name}?`}
          lead={words[asking].lead}
          command={command(asking)}
          button={`${words[asking].button} ${workflow.name}`}
          danger={asking === 'cancel'}
          undoable={asking !== 'cancel'}
          busy={busy}
          onConfirm={() => void run(asking)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Card>
  )
}
