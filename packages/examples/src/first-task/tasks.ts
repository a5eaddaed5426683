// tasks.ts: runs on worker threads
import { task } from '@q/task'
import { z } from 'zod'

export const hello = task(({ name }: { name: string }) => `Hello, ${name}!`)

export const resize = task(
  {
    input: z.object({ url: z.url(), width: z.number().default(800) }), // any Standard Schema: zod, valibot, arktype
    retry: { attempts: 5, backoff: 'exponential' },
    onCrash: 'retry',
    timeout: '10m',
    maxSilent: '1m',
    queue: 'cpu',
    concurrency: { key: '/url', limit: 1 },
    unique: 'payload',
    isolation: 'thread',
  },
  async ({ url, width }, ctx) => {
    const rows = (width * 3) / 4
    let bytes = 0
    for (let i = 0; i < rows; i++) {
      ctx.heartbeat(i / rows)
      bytes += scaled(url, i, width).length
    }
    return { bytes }
  },
)

/** One row of the picture; an example has no picture. */
function scaled(url: string, row: number, width: number): Uint8Array {
  return new Uint8Array(width).fill(url.length + row)
}
