/** A new run with the same or an edited payload; the old one is never changed. Numbers keep their digits: the text is sent as it is. */
import { useState, type ReactNode } from 'react'
import type { RunDetail } from '../../api/run-contract.ts'
import { useAct } from '../../api/use-act.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CliLine } from '../../parts/cli-line.tsx'
import { shellWord } from '@q/server/client'
import { Dialog } from '../../parts/dialog.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { parseLossless, pretty } from '../../parts/json/lossless.ts'

interface Props {
  readonly detail: RunDetail
  readonly onClose: () => void
  readonly onRun: (id: string) => void
}

export function AgainDialog({ detail, onClose, onRun }: Props): ReactNode {
  const { run } = detail
  const original = pretty(detail.payloadText ?? '{}')
  const [text, setText] = useState(original)
  const { act, busy } = useAct()
  const isEdited = text !== original
  const isJson = parseLossless(text) !== undefined
  const hasHidden = original.includes('"[hidden]"')
  async function enqueue(): Promise<void> {
    const body = isEdited ? { payloadText: text } : {}
    const answer = await act<{ runId: string }>({
      method: 'POST',
      path: `/runs/${run.id}/again`,
      body,
      done: ({ runId }) => `Run ${runId} is enqueued.`,
    })
    if (answer !== undefined) onRun(answer.runId)
  }
  const footer = (
    <>
      <CliLine
        command={
          isEdited ? `q again ${run.id} --payload ${shellWord(text.replaceAll(/\s*\n\s*/g, ' '))}` : `q again ${run.id}`
        }
      />
      <button type="button" className="btn" onClick={onClose}>
        Close <kbd>esc</kbd>
      </button>
      <ActButton look="pri" disabled={busy || !isJson} onClick={() => void enqueue()}>
        {isEdited ? 'Run with this payload' : 'Run again'}
      </ActButton>
    </>
  )
  return (
    <Dialog
      title={`Run ${run.task} again?`}
      lead="A new run with the same queue, group, priority and keys. This run stays as it is; both link to each other."
      footer={footer}
      onClose={onClose}
    >
      {hasHidden && isEdited ? (
        <div className="note">
          <Glyph name="bang" />
          <span>
            Hidden values are not sent when the payload is edited: write them anew, or leave the payload as it is.
          </span>
        </div>
      ) : null}
      <div className="opts">
        <label className="field grow">
          <span>Payload</span>
          <textarea
            className="input"
            rows={12}
            spellCheck={false}
            value={text}
            aria-invalid={!isJson}
            onChange={(event) => setText(event.target.value)}
          />
          {isJson ? null : (
            <span className="err" role="alert">
              <Glyph name="failed" />
              This is not JSON.
            </span>
          )}
        </label>
      </div>
    </Dialog>
  )
}
