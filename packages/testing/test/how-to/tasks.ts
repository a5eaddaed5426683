// tasks.ts: runs on worker threads
import { task } from '@q/task'
import { mail } from './mail.ts'

export const welcome = task({ retry: { attempts: 3, delay: '1m' } }, async ({ email }: { email: string }, ctx) => {
  await mail.send(email, 'Welcome!')
  await ctx.enqueue('remind', { email }, { delay: '1d' })
})

export const remind = task(async ({ email }: { email: string }) => {
  await mail.send(email, 'Still there?')
})

export const total = task(({ amounts }: { amounts: number[] }, ctx) => {
  let sum = 0
  for (const [index, amount] of amounts.entries()) {
    ctx.heartbeat(index / amounts.length)
    sum += amount
  }
  ctx.log.info({ sum }, 'added up')
  return { sum }
})
