import { task } from '@q/task'

/** As drivers' errors do: it quotes where it could not connect, in what it logs and in what it throws. */
export const quote = task((urls: string[], ctx) => {
  for (const url of urls) ctx.log.warn({ connection: { url } }, `could not connect to ${url}`)
  throw new Error(`could not connect to any of "${urls.join('" "')}"`)
})
