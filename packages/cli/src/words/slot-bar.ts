/** The slots of a node as a bar: executing, stopping, free. Pure. */
import type { Look } from '../frame/terminal.ts'
import { styled } from './style.ts'

interface Slots {
  readonly slots: number
  readonly freeSlots: number
  readonly threads: readonly { readonly state: string }[]
}

const widthMax = 12

export function slotBar(look: Look, { slots, freeSlots, threads }: Slots): string {
  const width = Math.min(widthMax, slots)
  const share = (some: number) => Math.round((some / Math.max(1, slots)) * width)
  const stopping = Math.min(share(threads.filter(({ state }) => state === 'stopping').length), width)
  const busy = Math.min(share(slots - freeSlots), width) - stopping
  const [full, half, empty] = look.ascii ? ['#', '!', '.'] : ['█', '▓', '░']
  return (
    styled(look, 'blue', full.repeat(Math.max(0, busy))) +
    styled(look, 'yellow', half.repeat(stopping)) +
    styled(look, 'dim', empty.repeat(Math.max(0, width - Math.max(0, busy) - stopping)))
  )
}
