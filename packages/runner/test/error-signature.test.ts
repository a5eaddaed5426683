/** Which errors form one group: the cause decides, not the variable parts. */
import { fingerprintOf } from '@q/store'
import { expect, test } from 'vitest'
import { normalized, signatureOf, type EndedByError } from '../src/main/stats/error-signature.ts'

const here = process.cwd()

function thrown(detail: string, more: Partial<EndedByError> = {}): EndedByError {
  return { code: 'TASK_ERROR', task: 'resize', errorName: 'Error', detail, ...more }
}

function stackAt(...frames: string[]): string {
  return ['Error: no', ...frames.map((frame) => `    at ${frame}`)].join('\n')
}

test.each([
  ['user 42 not found', 'user <n> not found'],
  ['run 7f9c24e5-1b2d-4c3a-9f10-2b6f0e8d1a55 failed', 'run <uuid> failed'],
  ['commit deadbeef01 is gone', 'commit <hex> is gone'],
  ['late since 2024-05-01T10:00:00.000Z', 'late since <time>'],
  ['no column "id" in \'users\'', 'no column <text> in <text>'],
  ["ENOENT: no such file or directory, open '/tmp/a/b.png'", 'ENOENT: no such file or directory, open <text>'],
  ['cannot read /srv/app/7/x.png: denied', 'cannot read <path>: denied'],
  ['C:\\data\\x.bin is locked', '<path> is locked'],
  ['a\n   b', 'a b'],
])('%j is the same as every error that says %j', (text, expected) => {
  expect(normalized(text)).toBe(expected)
})

test('an error of the same class, text and place is the same group, even if its numbers and lines differ', () => {
  const one = signatureOf(thrown('Error: row 7 of 9', { stack: stackAt(`load (file://${here}/src/a.ts:10:5)`) }))
  const two = signatureOf(thrown('Error: row 8 of 12', { stack: stackAt(`load (file://${here}/src/a.ts:99:1)`) }))
  expect(two).toEqual(one)
  expect(one).toMatchObject({ name: 'Error', message: 'row <n> of <n>', place: 'load (src/a.ts)' })
})

test('another class, text or place is another group', () => {
  const base = thrown('Error: no', { stack: stackAt(`load (${here}/src/a.ts:1:1)`) })
  const others = [
    { ...base, errorName: 'RangeError' },
    { ...base, detail: 'Error: yes' },
    { ...base, stack: stackAt(`save (${here}/src/a.ts:1:1)`) },
    { ...base, stack: stackAt(`load (${here}/src/b.ts:1:1)`) },
  ]
  const prints = [base, ...others].map((error) => signatureOf(error).fingerprint)
  expect(new Set(prints).size).toBe(5)
  expect(prints.every((print) => /^[0-9a-f]{16}$/.test(print))).toBe(true)
})

test('the place is the first frame that is not in a library or in Node', () => {
  const stack = stackAt(
    'read (node:fs:1:1)',
    `parse (${here}/node_modules/x/i.js:3:1)`,
    `async load (${here}/src/a.ts:1:1)`,
  )
  expect(signatureOf(thrown('Error: no', { stack })).place).toBe('load (src/a.ts)')
})

test('an error without a message is recognised by its class', () => {
  const [one, two] = ['AError', 'BError'].map((errorName) => signatureOf(thrown(`${errorName}: `, { errorName })))
  expect(one!.fingerprint).not.toBe(two!.fingerprint)
  expect(one).toMatchObject({ name: 'AError', message: 'AError' })
})

test('an end without an error of its own is one group per code and task', () => {
  const timeout = signatureOf({ code: 'TIMEOUT', task: 'resize', detail: 'It ran longer than its limit of 50 ms.' })
  expect(timeout.fingerprint).toBe(fingerprintOf(['TIMEOUT', 'resize']))
  expect(signatureOf({ code: 'TIMEOUT', task: 'other', detail: '' }).fingerprint).not.toBe(timeout.fingerprint)
})

test('a fingerprint that the code gives decides alone', () => {
  const [one, two] = ['Error: a', 'Error: b'].map((detail) => signatureOf(thrown(detail, { given: 'quota' })))
  expect(one!.fingerprint).toBe(two!.fingerprint)
})
