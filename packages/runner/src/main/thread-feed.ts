/**
 * The main thread's side of one worker thread: hands runs over in batches, and collects what came of them.
 *
 * Every run that was handed over is answered exactly once: `ended` with its report, or `returned` because it has not
 * begun and will not (the thread died, or declined it). A run that the caller withdraws is not answered. The ring
 * (ring-layout.ts) decides between begin and withdraw; the death of the thread is decided there too.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { Answer, FromThread, RunOrder, RunReport, Said } from '../protocol.ts'
import {
  createRing,
  putWaiting,
  resultOf,
  ringEntries,
  setSignalEnds,
  stateOf,
  takeSignal,
  tookMsOf,
  tryWithdraw,
  type EntryState,
  type Ring,
} from '../ring-layout.ts'
import { encodeBatch } from '../thread-batch.ts'

/** A run that was handed over and has not been answered. */
export interface HandedRun {
  readonly order: RunOrder
  readonly receiver: Receiver
}

/** The caller that handed the run over. It receives the end of the run. */
export interface Receiver {
  /** `report`: a string is the JSON text of a plain result. */
  ended(handed: HandedRun, report: string | RunReport, tookMs: number): void
  /**
   * It has not begun. `thread died`: or is being ended; of several runs the last one is returned first. `declined`: by its
   * thread, because other replicas may start it by now.
   */
  returned(handed: HandedRun, why: 'thread died' | 'declined'): void
  said(handed: HandedRun, said: Said, reply: (answer: Answer) => void): void
}

export interface ThreadFeed {
  readonly slot: number
  /** Runs that were handed over and have not ended. */
  load(): number
  /** How many more fit into the ring. */
  room(): number
  handOver(runs: readonly HandedRun[]): void
  /** Whether the run was withdrawn; if not, it has begun. */
  withdraw(handed: HandedRun): boolean
  /** Runs that have not begun, in the order of their turn. */
  waiting(): HandedRun[]
  /** The run that has begun and not ended. */
  executing(): HandedRun | undefined
  /** Whether the thread signals every end, or only when it has no run left. Collects afterwards. */
  signalEnds(every: boolean): void
  collect(): void
}

/** What the owner of the thread does with its feed. */
export interface OwnedFeed extends ThreadFeed {
  /** A thread begins its life: the memory to give to it. */
  open(port: MessagePort): Ring
  hear(message: FromThread): void
  /**
   * Before the thread is ended for a run: no other run begins on it. Runs that wait are returned, and runs that are handed
   * over later wait for the next thread. False: the run is not executing, and the thread continues.
   */
  makeLast(handed: HandedRun): boolean
  /** The thread is gone: `crash` is the report of the run that was executing. */
  closed(crash: RunReport): void
}

export function createThreadFeed(slot: number): OwnedFeed {
  let ring = createRing()
  let port: MessagePort | undefined
  let every = true
  /** No further run is sent to the thread. */
  let ending = false
  /** By the place in the ring. */
  const handed = Array.from<HandedRun | undefined>({ length: ringEntries })
  const reports = new Map<number, RunReport>()
  const lastWords = new Map<number, RunReport>()
  /** Numbers of the oldest run that may be open, and of the latest one. */
  let oldest = 1
  let latest = 0
  let load = 0

  const at = (seq: number): HandedRun | undefined => {
    const found = handed[seq % ringEntries]
    return found?.order.seq === seq ? found : undefined
  }

  function* openRuns(): Generator<HandedRun, undefined> {
    for (let seq = oldest; seq <= latest; seq++) {
      const found = at(seq)
      if (found !== undefined) yield found
    }
  }

  /** In the order of their turn: the first one that has not ended is the end of those that have. */
  function collect(): void {
    takeSignal(ring)
    for (; oldest <= latest; oldest++) {
      const one = at(oldest)
      if (one !== undefined && !answer(one)) return
    }
  }

  /** Whether the run has an end, and was answered. */
  function answer(one: HandedRun): boolean {
    const { seq } = one.order
    const state = stateOf(ring, seq)
    if (state !== 'ended' && state !== 'declined') return false
    const report = state === 'ended' ? (resultOf(ring, seq) ?? reports.get(seq)) : undefined
    if (state === 'ended' && report === undefined) return false // its message is on its way
    release(seq)
    if (report === undefined) one.receiver.returned(one, 'declined')
    else one.receiver.ended(one, report, tookMsOf(ring, seq))
    return true
  }

  function release(seq: number): void {
    handed[seq % ringEntries] = undefined
    if (reports.size > 0) reports.delete(seq)
    load--
  }

  const isIn = (state: EntryState) => (one: HandedRun) => stateOf(ring, one.order.seq) === state

  function returnRun(one: HandedRun): void {
    release(one.order.seq)
    one.receiver.returned(one, 'thread died')
  }

  /** Its thread died of it, or with it. */
  function fail(one: HandedRun, crash: RunReport): void {
    const { seq } = one.order
    release(seq)
    one.receiver.ended(one, lastWords.get(seq) ?? crash, 0)
  }

  function hear(message: FromThread): void {
    switch (message.kind) {
      case 'signal':
        return collect()
      case 'report':
        reports.set(message.seq, message.report)
        return collect()
      case 'last-words':
        return void lastWords.set(message.seq, message.report)
      case 'log':
      case 'ask': {
        const one = at(message.seq)
        const to = port
        return one?.receiver.said(one, message, (reply) => to?.postMessage(reply))
      }
      case 'hello':
        return undefined
    }
  }

  return {
    slot,
    load: () => load,
    room: () => Math.max(0, Math.min(ringEntries - load, ringEntries - (latest - oldest + 1))),
    handOver(runs) {
      for (const one of runs) {
        const { seq } = one.order
        if (load === 0) oldest = seq
        latest = seq
        handed[seq % ringEntries] = one
        load++
        putWaiting(ring, seq)
      }
      if (!ending) port?.postMessage(encodeBatch(runs.map(({ order }) => order)))
    },
    withdraw(one) {
      const { seq } = one.order
      if (at(seq) !== one || !tryWithdraw(ring, seq)) return false
      release(seq)
      return true
    },
    waiting: () => openRuns().filter(isIn('waiting')).toArray(),
    executing: () => openRuns().find(isIn('begun')),
    signalEnds(wanted) {
      if (wanted !== every) {
        every = wanted
        setSignalEnds(ring, every)
      }
      collect()
    },
    collect,
    open(given) {
      port = given
      ending = false
      ring = createRing()
      setSignalEnds(ring, every)
      // Handed over between two lives: this thread gets them.
      const waiting = [...openRuns()]
      for (const { order } of waiting) putWaiting(ring, order.seq)
      if (waiting.length > 0) port.postMessage(encodeBatch(waiting.map(({ order }) => order)))
      return ring
    },
    hear,
    makeLast(one) {
      if (at(one.order.seq) !== one || !isIn('begun')(one)) return false
      const behind = [...openRuns()].filter(({ order }) => tryWithdraw(ring, order.seq))
      for (const each of behind.toReversed()) returnRun(each)
      // It may have ended before they were withdrawn, and one of them may have begun.
      ending = isIn('begun')(one)
      return ending
    },
    closed(crash) {
      for (let rest = received(port); rest !== undefined; rest = received(port)) hear(rest)
      port = undefined
      collect()
      const rest = [...openRuns()]
      // Before they are answered: an answer may hand over other runs.
      oldest = latest + 1
      for (const one of rest.toReversed()) {
        if (isIn('waiting')(one)) returnRun(one)
        else fail(one, crash)
      }
      lastWords.clear()
    },
  }
}

function received(port: MessagePort | undefined): FromThread | undefined {
  return port === undefined ? undefined : receiveMessageOnPort(port)?.message
}
