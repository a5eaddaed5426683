/** A task whose errors and log lines quote every kind of secret. */
import { task } from '@q/task'

export const leaks = task((payload: { apiToken: string }, { log }) => {
  const { LEAKING_API_KEY: key = '', DATABASE_URL: url = '' } = process.env
  log.warn({ password: payload.apiToken, headers: { Authorization: 'Bearer canary-bearer' } }, `calling with ${key}`)
  console.log('Authorization: Basic canary-basic-auth', payload)
  const cause = new Error(`cannot connect to ${url.replace(/\/\/[^@]*@/, '//q:canary-database@')}`)
  throw new Error(`GET https://bot:canary-user@api.example/x?a=1&access_token=canary-query failed with key ${key}`, {
    cause,
  })
})

/** Shows a note with secrets until it is stopped. */
export const lingers = task(async (_: { apiToken: string; issue: number }, { heartbeat, log, signal }) => {
  heartbeat(0.5, 'GET https://bot:canary-note@api.example/?access_token=canary-note-query')
  log.info('lingering')
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
})
