/** Sends one report again, under the same id. */
import type { ReactNode } from 'react'
import { useAct } from '../../api/use-act.ts'
import { ActButton } from '../../parts/act-button.tsx'

export function RedeliverButton({ id }: { readonly id: string }): ReactNode {
  const { act, busy } = useAct()
  const redeliver = () =>
    act({ method: 'POST', path: `/deliveries/${id}/redeliver`, done: () => `Report ${id} is sent again.` })
  return (
    <ActButton look="ghost" disabled={busy} title={`q deliveries redeliver ${id}`} onClick={() => void redeliver()}>
      Redeliver
    </ActButton>
  )
}
