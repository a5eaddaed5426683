/** A button that does something: disabled with its reason while it may not. */
import type { ReactNode } from 'react'
import type { Scope } from '../api/contract.ts'
import { useRefusal } from '../app/may.ts'

interface Props {
  readonly onClick: () => void
  readonly look?: 'pri' | 'dan' | 'ghost' | ''
  readonly needs?: Scope
  readonly disabled?: boolean
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
      // eslint-disable-next-line jsx-a11y/no-autofocus -- only on what can be undone, in a dialog that was just opened
      autoFocus={autoFocus}
    >
      {children}
    </button>
  )
}
