/**
 * The main thread's side of one worker thread: hands over runs in batches and collects their reports.
 *
 * Each run that was handed over gets exactly one answer: `ended` with its report, or `returned` if it did not begin
 * because the thread died or declined it. A run that the caller withdraws gets none. The ring (ring-layout.ts) decides
 * whether a run began or was withdrawn, even if the thread dies.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { encodeBatch } from '../../protocol/batch-encoding.ts'
import type { EndedRuns, FromThread, RunReport } from '../../protocol/messages.ts'
import {
  createRing,
  putWaiting,
  resultOf,
  setSignalEnds,
  stateOf,
  takeSignal,
  tookMsOf,
  tryWithdraw,
  type EntryState,
  type Ring,
} from '../../protocol/ring-layout.ts'
import { createHandedRuns, type HandedRun, type HandedRuns } from './handed-runs.ts'

export interface ThreadFeed {
  readonly slot: number
  /** The number of runs that were handed over and have not ended. */
  load(): number
  /** How many more runs fit into the ring. */
  room(): number
  handOver(runs: readonly HandedRun[]): void
  /** Whether the run was withdrawn; if not, it has begun. */
  withdraw(handed: HandedRun): boolean
  /** The runs that have not begun, in order. */
  waiting(): HandedRun[]
  /** The run that has begun and not ended. */
  executing(): HandedRun | undefined
  /** Sets whether the thread signals each end or only when it has no run left; then collects. */
  signalEnds(every: boolean): void
  collect(): void
  /** Whether there was a thread to take the message. */
  traceRuns(ended: EndedRuns): boolean
}

/** The feed for the owner of the thread. */
export interface OwnedFeed extends ThreadFeed {
  /** Connects the feed to a new thread, and returns the memory to pass to it. */
  open(port: MessagePort): Ring
  onMessage(message: FromThread): void
  /**
   * Called before the thread is terminated because of a run: no other run begins on it. Waiting runs are returned; runs
   * that are handed over later wait for the next thread. Returns false if the run is not executing: then the thread stays.
   */
  makeLast(handed: HandedRun): boolean
  /** The thread has exited. `crash` is the report of the run that was executing. */
  closed(crash: RunReport): void
}

interface FeedState {
  readonly runs: HandedRuns
  /** Reports that arrived as messages, by sequence number. */
  readonly reports: Map<number, RunReport>
  readonly uncaughtErrors: Map<number, RunReport>
  ring: Ring
  port: MessagePort | undefined
  /** Whether the thread signals every end. */
  every: boolean
  /** Whether the thread is being terminated, so that no further run is sent to it. */
  ending: boolean
}

export function createThreadFeed(slot: number): OwnedFeed {
  const feed: FeedState = {
    runs: createHandedRuns(),
    reports: new Map(),
    uncaughtErrors: new Map(),
    ring: createRing(),
    port: undefined,
    every: true,
    ending: false,
  }
  const { runs } = feed
  return {
    slot,
    load: runs.load,
    room: runs.room,
    handOver: (handed) => handOver(feed, handed),
    withdraw: (one) => withdraw(feed, one),
    waiting: () => runs.open().filter(isIn(feed, 'waiting')).toArray(),
    executing: () => runs.open().find(isIn(feed, 'begun')),
    signalEnds(every) {
      if (every !== feed.every) setSignalEnds(feed.ring, every)
      feed.every = every
      collect(feed)
    },
    collect: () => collect(feed),
    traceRuns: (ended) => traceRuns(feed, ended),
    open: (port) => open(feed, port),
    onMessage: (message) => onMessage(feed, message),
    makeLast: (one) => makeLast(feed, one),
    closed: (crash) => close(feed, crash),
  }
}

// ---- handing over and collecting

function handOver({ runs, ring, port, ending }: FeedState, handed: readonly HandedRun[]): void {
  for (const one of handed) {
    runs.add(one)
    putWaiting(ring, one.command.seq)
  }
  if (!ending) port?.postMessage(encodeBatch(handed.map(({ command }) => command)))
}

function withdraw(feed: FeedState, one: HandedRun): boolean {
  const { seq } = one.command
  if (feed.runs.at(seq) !== one || !tryWithdraw(feed.ring, seq)) return false
  release(feed, seq)
  return true
}

/** Answers runs in order, up to the first that has not ended. */
function collect(feed: FeedState): void {
  takeSignal(feed.ring)
  feed.runs.answerInOrder((one) => answer(feed, one))
}

/** Answers the run if it has ended or was declined; returns whether it did. */
function answer(feed: FeedState, one: HandedRun): boolean {
  const { ring, reports } = feed
  const { seq } = one.command
  const state = stateOf(ring, seq)
  if (state !== 'ended' && state !== 'declined') return false
  const report = state === 'ended' ? (resultOf(ring, seq) ?? reports.get(seq)) : undefined
  if (state === 'ended' && report === undefined) return false // its message has not arrived
  release(feed, seq)
  if (report === undefined) one.receiver.returned(one, 'declined')
  else one.receiver.ended(one, report, tookMsOf(ring, seq))
  return true
}

function release({ runs, reports }: FeedState, seq: number): void {
  runs.remove(seq)
  if (reports.size > 0) reports.delete(seq)
}

function isIn({ ring }: FeedState, state: EntryState): (one: HandedRun) => boolean {
  return (one) => stateOf(ring, one.command.seq) === state
}

function onMessage(feed: FeedState, message: FromThread): void {
  const { runs, port, reports, uncaughtErrors } = feed
  switch (message.kind) {
    case 'signal':
      return collect(feed)
    case 'report':
      reports.set(message.seq, message.report)
      return collect(feed)
    case 'uncaught-error':
      return void uncaughtErrors.set(message.seq, message.report)
    case 'log':
    case 'request': {
      const one = runs.at(message.seq)
      return one?.receiver.onMessage(one, message, (reply) => port?.postMessage(reply))
    }
    case 'handshake':
      return undefined
  }
}

function traceRuns({ port, ending }: FeedState, ended: EndedRuns): boolean {
  if (port === undefined || ending) return false
  port.postMessage(ended)
  return true
}

// ---- the life of the thread

function open(feed: FeedState, port: MessagePort): Ring {
  feed.port = port
  feed.ending = false
  feed.ring = createRing()
  setSignalEnds(feed.ring, feed.every)
  // Runs that were handed over after the previous thread exited.
  const waiting = [...feed.runs.open()]
  for (const { command } of waiting) putWaiting(feed.ring, command.seq)
  if (waiting.length > 0) port.postMessage(encodeBatch(waiting.map(({ command }) => command)))
  return feed.ring
}

function makeLast(feed: FeedState, one: HandedRun): boolean {
  const { runs, ring } = feed
  if (runs.at(one.command.seq) !== one || !isIn(feed, 'begun')(one)) return false
  const behind = [...runs.open()].filter(({ command }) => tryWithdraw(ring, command.seq))
  for (const each of behind.toReversed()) returnRun(feed, each)
  // The run may have ended before the others were withdrawn, and one of them may have begun.
  feed.ending = isIn(feed, 'begun')(one)
  return feed.ending
}

function close(feed: FeedState, crash: RunReport): void {
  for (let rest = received(feed); rest !== undefined; rest = received(feed)) onMessage(feed, rest)
  feed.port = undefined
  collect(feed)
  // Taken before they are answered: an answer may hand over other runs.
  for (const one of feed.runs.takeOpen().toReversed()) {
    if (isIn(feed, 'waiting')(one)) returnRun(feed, one)
    else fail(feed, one, crash)
  }
  feed.uncaughtErrors.clear()
}

function returnRun(feed: FeedState, one: HandedRun): void {
  release(feed, one.command.seq)
  one.receiver.returned(one, 'thread died')
}

/** The run was executing when its thread died. */
function fail(feed: FeedState, one: HandedRun, crash: RunReport): void {
  const { seq } = one.command
  release(feed, seq)
  one.receiver.ended(one, feed.uncaughtErrors.get(seq) ?? crash, 0)
}

function received({ port }: FeedState): FromThread | undefined {
  return port === undefined ? undefined : receiveMessageOnPort(port)?.message
}
