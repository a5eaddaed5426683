import { task } from '@q/client'

export const receipt = task(({ orderId, cents }: { orderId: string; cents: number }) => ({
  orderId,
  text: `Order ${orderId}: ${(cents / 100).toFixed(2)}`,
}))
