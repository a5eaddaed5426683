/** Tasks of the tests; only their types are imported. */
import { task } from '@q/client'
import { z } from 'zod'

export const hello = task(({ name }: { name: string }) => `Hello, ${name}!`)
export const resize = task(
  { input: z.object({ url: z.string(), width: z.number().default(800) }) },
  async ({ width }) => ({
    bytes: width,
  }),
)
export const charge = task(
  { concurrency: { key: '/account' } },
  ({ account }: { account: string }) => `charged ${account}`,
)
export const notATask = (name: string): string => name
