/** Tasks of the tests. Most import only their types. */
import { task } from '@q/client'
import { z } from 'zod'

export const hello = task(({ name }: { name: string }) => `Hello, ${name}!`)
export const resize = task(
  { input: z.object({ url: z.string(), width: z.number().default(800) }), queue: 'cpu', retry: { attempts: 3 } },
  async ({ width }) => ({
    bytes: width,
  }),
)
export const once = task({ unique: 'payload' }, (_: { key: string }) => 1)
export const thumbnail = task({ name: 'images.thumbnail' }, ({ url }: { url: string }) => url)
export const charge = task(
  { concurrency: { key: '/account' } },
  ({ account }: { account: string }) => `charged ${account}`,
)
export const stamp = task(({ at }: { at: string }) => ({ at: new Date(at), tags: new Set<string>(), none: undefined }))
export const nothing = task((_: null): void => {})
export const notATask = (name: string): string => name
