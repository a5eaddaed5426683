/** Pausing a queue with a reason, and resuming it. Running runs go on. */
import { useState, type ReactNode } from 'react'
import type { QueueDetail, QueueView } from '../../api/contract.ts'
import { useAct } from '../../api/use-act.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { Card } from '../../parts/card.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { Confirm } from '../../parts/confirm.tsx'

export function PauseButton({ queue }: { readonly queue: QueueDetail }): ReactNode {
  const [asking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  const { act, busy } = useAct()
  const path = `/queues/${encodeURIComponent(queue.queue)}/pause`
  const command = queue.paused
    ? `q queues resume ${shellWord(queue.queue)}`
    : `q queues pause ${shellWord(queue.queue)}`
  async function pause(): Promise<void> {
    const body = reason.trim() === '' ? {} : { reason: reason.trim() }
    const paused = await act<QueueView>({ method: 'PUT', path, body, done: () => `${queue.queue} is paused.` })
    if (paused !== undefined) setAsking(false)
  }
  const resume = () => act<QueueView>({ method: 'DELETE', path, done: () => `${queue.queue} is open.` })
  return (
    <Card title="Actions" className="o2">
      <div className="pad acts-row">
        {queue.paused ? (
          <ActButton look="pri" disabled={busy} onClick={() => void resume()}>
            Resume
          </ActButton>
        ) : (
          <ActButton disabled={busy} onClick={() => setAsking(true)}>
            Pause…
          </ActButton>
        )}
        <CliLine command={command} />
      </div>
      {asking ? (
        <Confirm
          title={`Pause ${queue.queue}?`}
          lead="No node starts a run of it until it is resumed. Runs that are running go on; new ones can be enqueued."
          command={`${command}${reason.trim() === '' ? '' : ` --reason ${shellWord(reason.trim())}`}`}
          button={`Pause ${queue.queue}`}
          busy={busy}
          onConfirm={() => void pause()}
          onClose={() => setAsking(false)}
        >
          <div className="opts">
            <label className="field grow">
              <span>Reason, shown to everyone who looks at the queue</span>
              <input
                className="input"
                maxLength={200}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            </label>
          </div>
        </Confirm>
      ) : null}
    </Card>
  )
}
