import { expect, test } from 'vitest'
import { bareCode, importsOf } from '../boundaries/imports.ts'

test.each([
  ["import { a,\n  b } from './a.ts'", './a.ts', 2, 'value'],
  ["import type { A } from '@q/store'", '@q/store', 1, 'type'],
  ["import './effect.ts'", './effect.ts', 1, 'value'],
  ['export * from "./b.ts"', './b.ts', 1, 'value'],
  ["const { c } = await import(\n  './c.ts'\n)", './c.ts', 2, 'deferred'],
  ["type D = import('./d.ts').D", './d.ts', 1, 'deferred'],
  ["const url = import.meta.resolve('@q/runner/thread')", '@q/runner/thread', 1, 'deferred'],
  ["const e = `${await import('./e.ts')} and ${`nested ${1}`}`", './e.ts', 1, 'deferred'],
  ["const quote = /['\"`]/\nimport f from './f.ts'", './f.ts', 2, 'value'],
  ["import { type A, type B } from './g.ts'", './g.ts', 1, 'type'],
  ["import { type A, b } from './h.ts'", './h.ts', 1, 'value'],
  ["export type { A } from './i.ts'", './i.ts', 1, 'type'],
  ["export const a = 1\nexport { b } from './j.ts'", './j.ts', 2, 'value'],
])('%j imports %s in line %i, as a %s', (text, specifier, line, kind) => {
  expect(importsOf(text)).toEqual([{ specifier, line, kind }])
})

test.each([
  ["// import a from './a.ts'"],
  ["/* export * from './a.ts' */"],
  [String.raw`const text = "it's: import x from 'y'"`],
  ["const text = `import('./a.ts')`"],
  ["const list = Array.from('abc')"],
  ['await import(path)'],
])('%s imports nothing', (text) => {
  expect(importsOf(text)).toEqual([])
})

test('the remaining code keeps its position', () => {
  const text = "a() // comment\nb('string', `t ${c / d} t`, /re['\"]/) /* two\nlines */ e()"
  const bare = bareCode(text)
  expect(bare).toHaveLength(text.length)
  expect(bare.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'a() ',
    "b(' ', ` {c / d} `, / /) ",
    ' e()',
  ])
})
