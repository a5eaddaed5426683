/** Does something by the API and says how it went; everything on screen is read again after it. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { say } from '../parts/toasts.tsx'
import { RequestProblem } from './problem.ts'
import { type Method, request } from './request.ts'

interface Act<T> {
  readonly method: Method
  readonly path: string
  readonly body?: unknown
  /** The sentence that says what happened; undefined: say nothing. */
  readonly done: (answer: T) => string | undefined
}

export interface Acting {
  readonly busy: boolean
  /** Returns undefined when it was refused; the reason has been said then. */
  readonly act: <T>(act: Act<T>) => Promise<T | undefined>
}

export function useAct(): Acting {
  const cache = useQueryClient()
  const [busy, setBusy] = useState(false)
  return {
    busy,
    async act<T>({ method, path, body, done }: Act<T>) {
      setBusy(true)
      try {
        const answer = await request<T>(method, path, body === undefined ? {} : { body })
        const sentence = done(answer)
        if (sentence !== undefined) say(sentence)
        return answer
      } catch (error) {
        if (!(error instanceof RequestProblem)) throw error
        say(error.title, { good: false, why: error.why, fix: error.fix })
        return undefined
      } finally {
        setBusy(false)
        void cache.invalidateQueries()
      }
    },
  }
}
