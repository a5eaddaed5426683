/**
 * Loaded into every thread of a worker process before its program: on SIGUSR2 each thread collects garbage, and the process
 * prints the memory that their heaps still use.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import { heapLine } from '../contenders/contender.ts'

type ThreadHeap =
  | { readonly kind: 'thread' }
  | { readonly kind: 'collect' }
  | { readonly kind: 'used'; readonly bytes: number }

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const channel = new BroadcastChannel('heap-probe')
const send = (message: ThreadHeap) => channel.postMessage(message)
channel.unref()
if (isMainThread) answerSignals()
else answerMainThread()

function answerSignals(): void {
  let threads = 0
  let answers = 0
  let bytes = 0
  onHeapMessage((message) => {
    if (message.kind === 'thread') threads++
    if (message.kind !== 'used') return
    answers++
    bytes += message.bytes
    if (answers === threads) console.log(`${heapLine} ${bytes + usedBytes()}`)
  })
  process.on('SIGUSR2', () => {
    answers = bytes = 0
    send({ kind: 'collect' })
  })
}

function answerMainThread(): void {
  onHeapMessage((message) => {
    if (message.kind === 'collect') send({ kind: 'used', bytes: usedBytes() })
  })
  send({ kind: 'thread' })
}

function onHeapMessage(receive: (message: ThreadHeap) => void): void {
  channel.addEventListener('message', (event) => receive((event as MessageEvent).data as ThreadHeap))
}

/** The second collection removes what the first one has finalized. */
function usedBytes(): number {
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
