/**
 * The shared memory that hands runs to one worker thread: an entry per run, with its state and result. Both sides import
 * this file, and only its functions change an entry.
 *
 *   waiting ── tryBegin (thread) ──► begun ── end (thread) ──► ended
 *      ├────── tryWithdraw (main) ──► withdrawn
 *      └────── tryDecline (thread) ─► declined
 *
 * Invariant: each way out of `waiting` is one compare-and-exchange, so exactly one of them succeeds. A run that was
 * withdrawn or declined has not begun and will not; a run that could not be withdrawn counts as begun.
 * Invariant: the state contains the number of the run. A thread that still has a command whose entry was reused for a
 * later run cannot begin either of them with it.
 * Invariant: a result is in the entry (or its message is sent) before the state is `ended`, so the death of the thread
 * loses no result of a run that has ended.
 *
 *   header word 0  signalEnds  main → thread   1: signal every end; 0: only when no run is left (unsignalled)
 *   header word 1  signalled   both            1: a signal is on its way
 *   entry  word 0  state       both            number of the run, and one of the states below
 *   entry  word 1  size        thread → main   bytes of the result; -1: the report comes as a message
 *   entry  word 2  took        thread → main   float32: how long the code ran, in ms
 *   entry  byte 12 result      thread → main   JSON text, UTF-8
 */
const entryBytes = 256
const entryWords: number = entryBytes / Int32Array.BYTES_PER_ELEMENT
const resultStart = 12
const resultBytesMax: number = entryBytes - resultStart
const word = { state: 0, size: 1, took: 2 } as const
const header = { signalEnds: 0, signalled: 1 } as const

const states = { waiting: 1, begun: 2, ended: 3, withdrawn: 4, declined: 5 } as const
const stateNames = ['free', 'waiting', 'begun', 'ended', 'withdrawn', 'declined'] as const
export type EntryState = (typeof stateNames)[number]
const stateBits = 3
const stateMask = 7
const numberMask = 0xfff_ffff

/** The most runs that one thread may have been handed and that are not collected. */
export const ringEntries = 512

export interface Ring {
  readonly memory: SharedArrayBuffer
  readonly words: Int32Array
  readonly floats: Float32Array
  readonly bytes: Buffer
}

export function createRing(): Ring {
  return ringOf(new SharedArrayBuffer((ringEntries + 1) * entryBytes))
}

export function ringOf(memory: SharedArrayBuffer): Ring {
  return { memory, words: new Int32Array(memory), floats: new Float32Array(memory), bytes: Buffer.from(memory) }
}

// ---- an entry, from handed over to collected

/** Main thread: the entry must be free, or its last run collected or withdrawn. */
export function putWaiting({ words }: Ring, seq: number): void {
  Atomics.store(words, entryOf(seq), valueOf(seq, states.waiting))
}

/** Thread: whether the run begins now. */
export function tryBegin(ring: Ring, seq: number): boolean {
  return leaveWaiting(ring, seq, states.begun)
}

/** Main thread: whether the run was withdrawn before it began. */
export function tryWithdraw(ring: Ring, seq: number): boolean {
  return leaveWaiting(ring, seq, states.withdrawn)
}

/** Thread: other replicas may start the run by now, so it does not begin here. */
export function tryDecline(ring: Ring, seq: number): boolean {
  return leaveWaiting(ring, seq, states.declined)
}

function leaveWaiting({ words }: Ring, seq: number, to: number): boolean {
  const waiting = valueOf(seq, states.waiting)
  return Atomics.compareExchange(words, entryOf(seq), waiting, valueOf(seq, to)) === waiting
}

/** Thread: whether the result fits into the entry. If not, its message must be sent before `endByMessage`. */
export function endWithResult(ring: Ring, seq: number, tookMs: number, result: string): boolean {
  if (result.length > resultBytesMax) return false
  const start = entryOf(seq) * Int32Array.BYTES_PER_ELEMENT + resultStart
  const size = ring.bytes.write(result, start, resultBytesMax, 'utf8')
  // Cut at a character: it did not fit.
  if (size > resultBytesMax - 4 && Buffer.byteLength(result) !== size) return false
  end(ring, seq, tookMs, size)
  return true
}

export function endByMessage(ring: Ring, seq: number, tookMs: number): void {
  end(ring, seq, tookMs, -1)
}

function end({ words, floats }: Ring, seq: number, tookMs: number, size: number): void {
  const entry = entryOf(seq)
  words[entry + word.size] = size
  floats[entry + word.took] = tookMs
  Atomics.store(words, entry, valueOf(seq, states.ended))
}

export function stateOf({ words }: Ring, seq: number): EntryState {
  const value = Atomics.load(words, entryOf(seq))
  return value >> stateBits === (seq & numberMask) ? (stateNames[value & stateMask] ?? 'free') : 'free'
}

/** Main thread, of an ended run: its result; undefined: the report comes as a message. */
export function resultOf({ words, bytes }: Ring, seq: number): string | undefined {
  const entry = entryOf(seq)
  const size = words[entry + word.size] ?? -1
  if (size < 0) return undefined
  const start = entry * Int32Array.BYTES_PER_ELEMENT + resultStart
  return bytes.toString('utf8', start, start + size)
}

export function tookMsOf({ floats }: Ring, seq: number): number {
  return floats[entryOf(seq) + word.took] ?? 0
}

function entryOf(seq: number): number {
  return (1 + (seq % ringEntries)) * entryWords
}

function valueOf(seq: number, state: number): number {
  return ((seq & numberMask) << stateBits) | state
}

// ---- signals

/** Main thread: whether the thread signals every end, or only that it has no run left. The main thread collects afterwards. */
export function setSignalEnds({ words }: Ring, every: boolean): void {
  Atomics.store(words, header.signalEnds, every ? 1 : 0)
}

/** Thread, after an end: whether a signal is to be sent. */
export function mustSignal({ words }: Ring, isLast: () => boolean): boolean {
  if (Atomics.load(words, header.signalEnds) === 0 && !isLast()) return false
  return Atomics.compareExchange(words, header.signalled, 0, 1) === 0
}

/** Main thread, before it collects: a later end is signalled again. */
export function takeSignal({ words }: Ring): void {
  Atomics.store(words, header.signalled, 0)
}
