/** Runs a busy loop per core, like another program on the same machine. The returned function ends them. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

export function keepCoresBusy(): () => Promise<void> {
  const loops = Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }))
  return async () => void (await Promise.all(loops.map((loop) => loop.terminate())))
}
