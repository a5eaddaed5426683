import { task } from '@q/task'

export const receipt = task(({ order }: { order: number }) => `receipt for order ${order}`)
