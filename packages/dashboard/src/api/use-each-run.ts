/** Cancels or retries runs one after the other, and says what was done and why the rest was refused. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { say } from '../parts/toasts.tsx'
import { several } from '../words/numbers.ts'
import { RequestProblem } from './problem.ts'
import { request } from './request.ts'

const words = { cancel: 'cancelled', retry: 'retried' } as const
/** The refusals that are shown in full. */
const shownMax = 3

export interface EachRun {
  readonly busy: boolean
  readonly each: (kind: 'cancel' | 'retry', ids: readonly string[]) => Promise<void>
}

export function useEachRun(): EachRun {
  const cache = useQueryClient()
  const [busy, setBusy] = useState(false)
  return {
    busy,
    async each(kind, ids) {
      setBusy(true)
      const refused: RequestProblem[] = []
      try {
        for (const id of ids) {
          try {
            await request('POST', `/runs/${id}/${kind}`)
          } catch (error) {
            if (!(error instanceof RequestProblem)) throw error
            refused.push(error)
          }
        }
      } finally {
        setBusy(false)
        void cache.invalidateQueries()
      }
      const done = `${several(ids.length - refused.length, 'run')} ${words[kind]}.`
      if (refused.length === 0) return say(done)
      const shown = refused.slice(0, shownMax).map(({ title, why }) => (why === null ? title : `${title} ${why}`))
      const more = refused.length > shownMax ? [`${refused.length - shownMax} more were refused.`] : []
      say(done, { good: false, why: [...shown, ...more].join(' '), fix: refused[0]?.fix ?? null })
    },
  }
}
