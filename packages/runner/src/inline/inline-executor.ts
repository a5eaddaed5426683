/**
 * An executor for tests: it executes runs in the calling thread and exchanges the same plain data that otherwise crosses
 * to a worker thread.
 *
 * It cannot terminate code that is busy or ignores its signal. Such code keeps running, and its run is reported as
 * aborted.
 */
import { RequestRefused } from '@q/task'
import type { OnMessage, Executor } from '../main/executors/executor.ts'
import type { ContextReply, RunReport } from '../protocol/messages.ts'
import type { MainThreadChannel } from '../thread/main-thread-channel.ts'
import { openRunSlot } from '../thread/run-slot.ts'
import type { Registry } from '../thread/registry.ts'
import { executeCommand } from '../thread/execute-command.ts'

export function inlineExecutor(registry: Registry, slotMemory: SharedArrayBuffer): Executor {
  return {
    run(command, { monitor, terminate, onMessage }) {
      const deps = {
        registry,
        channel: inlineChannel(onMessage),
        openSlot: () => openRunSlot(slotMemory, monitor.slot, command),
      }
      const report = Promise.race([executeCommand(deps, command), abortedBy(terminate)])
      return { report, measure: () => undefined }
    },
    close: () => Promise.resolve(),
  }
}

export function inlineChannel(onMessage: OnMessage): MainThreadChannel {
  let requests = 0
  return {
    send: (seq, body) => onMessage({ ...body, seq }, () => {}),
    request(seq, request) {
      const id = ++requests
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const reply = (given: ContextReply) =>
        given.ok ? resolve(given.value) : reject(new RequestRefused(given.refusal))
      onMessage({ seq, kind: 'request', id, request }, reply)
      return promise
    },
  }
}

function abortedBy(terminate: AbortSignal): Promise<RunReport> {
  const { promise, resolve } = Promise.withResolvers<RunReport>()
  terminate.addEventListener('abort', () => resolve({ ended: 'aborted' }))
  return promise
}
