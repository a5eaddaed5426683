/** A native modal dialog: the browser traps the focus, closes on Esc and gives the focus back. */
import { useEffect, useId, useRef, type ReactNode } from 'react'
import { useToastHost } from './toasts.tsx'

interface Props {
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly footer: ReactNode
  readonly onClose: () => void
  readonly narrow?: boolean
  readonly children?: ReactNode
}

export function Dialog({ title, lead, footer, onClose, narrow = false, children }: Props): ReactNode {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog?.open === false) dialog.showModal()
    return () => dialog?.close()
  }, [])
  useToastHost(ref)
  return (
    <dialog
      ref={ref}
      className={narrow ? 'dlg narrow' : 'dlg'}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {lead === undefined ? null : <p>{lead}</p>}
      </header>
      {children}
      <footer>{footer}</footer>
    </dialog>
  )
}
