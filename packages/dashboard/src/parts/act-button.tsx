/** A button that does something: disabled with its reason while it may not. */
import type { ReactNode } from 'react'
import type { Scope } from '../api/contract.ts'
import { useRefusal } from '../app/may.ts'

interface Props {
  readonly onClick: () => void
  readonly look?: 'pri' | 'dan' | 'ghost' | ''
  readonly needs?: Scope
  readonly disabled?: boolean
  /** Only for what can be undone. */
  readonly autoFocus?: boolean
  readonly title?: string
  readonly children: ReactNode
}

export function ActButton({
  onClick,
  look = '',
  needs = 'admin',
  disabled = false,
  autoFocus = false,
  title,
  children,
}: Props): ReactNode {
  const refusal = useRefusal(needs)
  return (
    <button
      type="button"
      className={`btn ${look}`}
      disabled={disabled || refusal !== undefined}
      title={refusal ?? title}
      onClick={onClick}
      // The attribute, which a dialog reads when it opens: React would focus the button before, while it is not shown.
      ref={(button) => void button?.toggleAttribute('autofocus', autoFocus)}
    >
      {children}
    </button>
  )
}
