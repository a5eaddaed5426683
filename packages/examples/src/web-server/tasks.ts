import { task } from '@q/task'

export const receipt = task(({ orderId, cents }: { orderId: string; cents: number }) => ({
  orderId,
  text: `Order ${orderId}: ${(cents / 100).toFixed(2)}`,
}))
