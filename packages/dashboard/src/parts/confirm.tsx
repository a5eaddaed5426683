/** Asks once before something is done: the button is the sentence, and above a thousand the number has to be typed. */
import { useState, type ReactNode } from 'react'
import { countLabel } from '../words/numbers.ts'
import { ActButton } from './act-button.tsx'
import { CliLine } from './cli-line.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  readonly lead: ReactNode
  readonly command: string
  readonly button: string
  readonly danger?: boolean
  readonly undoable?: boolean
  /** How many things it touches. */
  readonly touches?: number
  readonly busy?: boolean
  readonly needs?: 'enqueue' | 'admin'
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

const typedAbove = 1_000

export function Confirm(props: Props): ReactNode {
  const { touches = 1, danger = false, undoable = false, busy = false } = props
  const [typed, setTyped] = useState('')
  const mustType = touches > typedAbove
  const isTyped = !mustType || Number(typed.replaceAll(/\s/g, '')) === touches
  const footer = (
    <>
      <CliLine command={props.command} />
      <button type="button" className="btn" onClick={props.onClose}>
        Close <kbd>esc</kbd>
      </button>
      <ActButton
        look={danger ? 'dan' : 'pri'}
        needs={props.needs ?? 'admin'}
        disabled={busy || !isTyped}
        autoFocus={undoable}
        onClick={props.onConfirm}
      >
        {props.button}
      </ActButton>
    </>
  )
  return (
    <Dialog title={props.title} lead={props.lead} footer={footer} onClose={props.onClose} narrow>
      {props.children}
      {mustType ? (
        <div className="opts">
          <label className="field">
            <span>Type {countLabel(touches)} to confirm</span>
            <input
              className="input"
              inputMode="numeric"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </label>
        </div>
      ) : null}
    </Dialog>
  )
}
