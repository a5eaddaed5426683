/** The last note of a run, as a heartbeat sends it: without secrets, also where the memory of the slot had no room for the rest. */
import { expect, test } from 'vitest'
import type { RunId } from '@q/store'
import { createRunMonitors } from '../src/main/liveness/run-monitors.ts'
import { encodedNote, noteBytesMax, slotMemoryAt, word, writeNote } from '../src/protocol/slot-layout.ts'

/** Writes the note as code does, and reads it as a heartbeat does. */
function sent(note: string): string | null {
  const board = createRunMonitors(1)
  const lease = { runId: '1' as RunId, fence: 1 }
  const monitor = board.open({ lease, task: 't', isolation: 'thread', timeoutMs: null, maxSilentMs: null }, 0, 0)
  const slot = slotMemoryAt(board.memory, 0)
  Atomics.store(slot.words, word.begun, monitor.seq)
  monitor.look(0)
  writeNote(slot, encodedNote(note))
  return monitor.progressUpdate().note
}

/** Puts the text where the memory ends in the middle of `canary`. */
function cutIn(text: string, canary: string): string {
  const kept = text.indexOf(canary) + Math.floor(canary.length / 2)
  return 'x '.repeat(noteBytesMax).slice(-(noteBytesMax - kept)) + text
}

test('a note is sent as it is, and without the secrets in it', () => {
  expect(sent('page 3 of 7')).toBe('page 3 of 7')
  expect(sent('copying to https://canary@example.org')).toBe('copying to https://***@example.org')
})

test.each([
  ['a password in a URL', 'to postgres://q:canary0canary1@db/q', 'canary0canary1'],
  ['a header', 'Authorization: Bearer canary0canary1', 'canary0canary1'],
  ['a member of JSON with spaces', '{"password": "canary0 canary1 canary2"}', 'canary0 canary1 canary2'],
  ['a member of JSON that is cut in an escape', String.raw`{"password": "canary0 \"canary12"}`, 'canary0 \\"canary12'],
  ['an object of console.log', "{ password: 'canary0 canary1 canary2' }", 'canary0 canary1 canary2'],
])('a truncated note contains no part of a secret: %s', (_, text, canary) => {
  const note = sent(cutIn(text, canary))
  expect(note).toMatch(/x x .*…$/)
  expect(note).not.toMatch(/can|ary/)
})
