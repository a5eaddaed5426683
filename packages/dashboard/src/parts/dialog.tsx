/**
 * A native modal dialog: the browser traps the focus, closes on Esc and gives the focus back. Its first field has the focus, else the
 * button that closes it, unless the action can be undone. Enter in a field presses the button of the action.
 */
import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
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
    // Without a field, the browser chooses the first button, which copies the command.
    if (document.activeElement?.closest('.cli') != null) dialog?.querySelector<HTMLElement>('footer > .btn')?.focus()
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
      onKeyDown={pressAction}
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

function pressAction(event: KeyboardEvent<HTMLDialogElement>): void {
  if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
  event.preventDefault()
  event.currentTarget.querySelector<HTMLButtonElement>('footer > .pri, footer > .dan')?.click()
}
