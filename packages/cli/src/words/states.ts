/** States as a glyph, a word and a colour, the same as on the page: each of them alone tells the state. */
import type { TaskState } from '@q/schema'
import type { NodeState } from '@q/store'
import type { Look } from '../frame/terminal.ts'
import { styled, type Style } from './style.ts'

type Sign = readonly [glyph: string, ascii: string, style: Style]

const runSigns: Readonly<Record<TaskState, Sign>> = {
  PENDING: ['◔', '~', 'magenta'],
  AVAILABLE: ['○', 'o', 'cyan'],
  CLAIMED: ['◐', '*', 'blue'],
  RUNNING: ['▶', '>', 'blue'],
  SUCCEEDED: ['✓', '+', 'green'],
  FAILED: ['✕', 'x', 'red'],
  CANCELLED: ['⊘', '/', 'gray'],
  EXPIRED: ['⧖', '!', 'yellow'],
  SKIPPED: ['↷', '-', 'gray'],
}

const nodeSigns: Readonly<Record<NodeState, Sign>> = {
  alive: ['●', '*', 'green'],
  draining: ['◒', 'v', 'yellow'],
  stale: ['✖', 'x', 'red'],
  stopped: ['○', 'o', 'gray'],
}

const workflowSigns: Readonly<Record<string, Sign>> = {
  RUNNING: runSigns.RUNNING,
  PAUSED: ['‖', '=', 'yellow'],
  SUCCEEDED: runSigns.SUCCEEDED,
  FAILED: runSigns.FAILED,
  CANCELLED: runSigns.CANCELLED,
}

type SignLevel = 'ok' | 'note' | 'skipped' | 'warn' | 'bad' | 'fail'

const levelSigns: Readonly<Record<SignLevel, Sign>> = {
  ok: ['✓', '+', 'green'],
  note: ['·', '-', 'gray'],
  skipped: ['·', '-', 'gray'],
  warn: ['!', '!', 'yellow'],
  bad: ['✕', 'x', 'red'],
  fail: ['✕', 'x', 'red'],
}

/** The state of a run. A waiting run shows its gate, a run that is being stopped shows that. */
export function runStateText(
  look: Look,
  { status, waitingFor, stopping = false }: { status: TaskState; waitingFor?: string | null; stopping?: boolean },
): string {
  const more = stopping ? ' stopping' : waitingFor === null || waitingFor === undefined ? '' : ` ${waitingFor}`
  return signed(look, runSigns[status], `${status}${more}`)
}

/** A stale node is shown as "lost". */
export function nodeStateText(look: Look, state: NodeState, more = ''): string {
  const word = state === 'stale' ? 'lost' : state
  return signed(look, nodeSigns[state], more === '' ? word : `${word} ${more}`)
}

export function workflowState(look: Look, status: string): string {
  return signed(look, workflowSigns[status] ?? runSigns.PENDING, status)
}

export function levelGlyph(look: Look, level: SignLevel): string {
  const [glyph, ascii, style] = levelSigns[level]
  return styled(look, style, look.ascii ? ascii : glyph)
}

function signed(look: Look, [glyph, ascii, style]: Sign, word: string): string {
  return styled(look, style, `${look.ascii ? ascii : glyph} ${word}`)
}
