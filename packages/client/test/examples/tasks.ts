import { task } from '@q/client'

export const receipt = task(({ order }: { order: number }) => `receipt for order ${order}`)
