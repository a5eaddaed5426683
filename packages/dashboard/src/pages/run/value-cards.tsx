/** The payload, the result and the checkpoint of a run. Secrets are hidden until a person asks for them, which the audit records. */
import { useState, type ReactNode } from 'react'
import type { RunDetail, RunTexts } from '../../api/run-contract.ts'
import { useAct } from '../../api/use-act.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { JsonCard } from '../../parts/json/json-view.tsx'
import { errorOf } from './error-card.tsx'

export function ValueCards({ detail }: { readonly detail: RunDetail }): ReactNode {
  const [revealed, setRevealed] = useState<RunTexts>()
  const { act, busy } = useAct()
  const { payloadText, resultText, checkpointText } = revealed ?? detail
  const show = async () =>
    setRevealed(
      await act<RunTexts>({
        method: 'POST',
        path: `/runs/${detail.run.id}/reveal`,
        done: () => 'The audit has noted it.',
      }),
    )
  const reveal = (
    <ActButton look="ghost" disabled={busy} onClick={() => void show()}>
      Reveal
    </ActButton>
  )
  return (
    <>
      <JsonCard title="Payload" text={payloadText} reveal={reveal} />
      {resultText === null || errorOf(detail) !== undefined ? null : (
        <JsonCard title="Result" text={resultText} reveal={reveal} />
      )}
      {checkpointText === null ? null : <JsonCard title="Checkpoint" text={checkpointText} reveal={reveal} />}
    </>
  )
}
