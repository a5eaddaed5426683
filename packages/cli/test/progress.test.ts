/** Progress on stderr: one line on a terminal, a few plain lines in a log, none for a program. */
import { expect, test } from 'vitest'
import { progressOn, type ProgressOptions } from '../src/frame/progress.ts'
import { patiently, patientStore } from '../src/frame/patience.ts'
import type { Terminal } from '../src/frame/terminal.ts'

const escape = '\u001B'

function written(isTTY: boolean, options: Partial<ProgressOptions> = {}) {
  const lines: string[] = []
  let now = 0
  const stream = { isTTY, columns: 20, write: (text: string) => void lines.push(text) }
  const progress = progressOn(stream, { colour: false, ascii: false, json: false, now: () => now, ...options })
  const at = (ms: number, line: string) => {
    now = ms
    progress(line)
  }
  return { lines, at }
}

test('on a terminal one line is rewritten, cut to its width, and removed', () => {
  const { lines, at } = written(true)
  at(0, '')
  at(1, 'run 1')
  at(2, 'run 1 with a note that does not fit')
  at(3, '')
  at(4, '')
  expect(lines).toEqual(['run 1', 'run 1 with a note…', ''].map((line) => `\r${escape}[2K${line}`))
})

test("names of users cannot move the terminal's cursor", () => {
  const { lines, at } = written(true, { colour: true })
  at(1, `${escape}[32mok${escape}[39m ${escape}[2J`)
  expect(lines).toEqual([`\r${escape}[2K${escape}[32mok${escape}[39m  [2J`])
})

test('in a log a plain line is written after two seconds, then one every ten seconds', () => {
  const { lines, at } = written(false)
  for (let ms = 0; ms <= 25_000; ms += 500) at(ms, `${escape}[32m${ms} ms${escape}[39m of a long line `)
  at(26_000, '')
  expect(lines).toEqual(['2000', '12000', '22000'].map((ms) => `${ms} ms of a long line\n`))
})

test('a program that reads JSON gets no line in its log', () => {
  const { lines, at } = written(false, { json: true })
  at(60_000, 'run 1')
  expect(lines).toEqual([])
})

function listening() {
  const { promise: first, resolve } = Promise.withResolvers<string>()
  const lines: string[] = []
  const terminal = {
    progress(line: string) {
      lines.push(line)
      resolve(line)
    },
  } as Partial<Terminal> as Terminal
  return { terminal, first, lines }
}

const longAgo = () => performance.now() - 3_000

test('work that takes longer than two seconds says what it waits for, and removes it at the end', async () => {
  const { terminal, first, lines } = listening()
  const work = patiently(
    terminal,
    () => 'waiting',
    () => first,
    longAgo(),
  )
  expect(await first).toMatch(/^waiting \([34] s\)$/)
  await work
  expect(lines.at(-1)).toBe('')
})

test('a part of work that is waited for does not speak for itself', async () => {
  const { terminal, first, lines } = listening()
  const part = () =>
    patiently(
      terminal,
      () => 'part',
      () => first,
      longAgo(),
    )
  await patiently(terminal, () => 'all', part, longAgo())
  expect(lines).toEqual([expect.stringMatching(/^all /), ''])
})

test('quick work writes nothing, not even the removal of a line', async () => {
  const { terminal, lines } = listening()
  const store = patientStore(terminal, { listNodes: () => Promise.resolve([]) } as never)
  expect(await store.listNodes()).toEqual([])
  expect(lines).toEqual([])
})
