/**
 * A place where code runs in this very process, beside whoever sent it: for tests. What crosses the thread border
 * elsewhere is handed over here, as the same plain data.
 *
 * What cannot hold: code that is busy, or that ignores its signal, is not ended by force. It is left behind, and its
 * run is reported as stopped.
 */
import { RequestRefused } from '@q/task'
import type { Hear, Workplace } from '../main/workplace.ts'
import type { Answer, RunReport } from '../protocol.ts'
import type { MainLine } from '../thread/main-line.ts'
import { openPulse } from '../thread/pulse.ts'
import type { Registry } from '../thread/registry.ts'
import { runOrder } from '../thread/run-order.ts'

export function inlineWorkplace(registry: Registry, pulseMemory: SharedArrayBuffer): Workplace {
  return {
    run(order, { pulse, terminate, hear }) {
      const deps = {
        registry,
        line: inlineLine(hear),
        openPulse: () => openPulse(pulseMemory, pulse.slot, order),
      }
      return { report: Promise.race([runOrder(deps, order), leftBehind(terminate)]), measure: () => undefined }
    },
    close: () => Promise.resolve(),
  }
}

export function inlineLine(hear: Hear): MainLine {
  let asked = 0
  return {
    say: (seq, body) => hear({ ...body, seq }, () => {}),
    ask(seq, ask) {
      const id = ++asked
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const answer = (given: Answer) => (given.ok ? resolve(given.value) : reject(new RequestRefused(given.refusal)))
      hear({ seq, kind: 'ask', id, ask }, answer)
      return promise
    },
  }
}

function leftBehind(terminate: AbortSignal): Promise<RunReport> {
  const { promise, resolve } = Promise.withResolvers<RunReport>()
  terminate.addEventListener('abort', () => resolve({ ended: 'aborted' }))
  return promise
}
