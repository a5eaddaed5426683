import { expect, test } from 'vitest'
import { aboutServerFacts } from '../../src/reads/attention/about-server.ts'

test('a snapshot that is held for ten minutes, scarce connections and dead rows are named', () => {
  const holder = { kind: 'session', pid: 11, name: 'psql', user: 'ada', state: null, age: 1, query: null } as const
  const table = { table: 'task_run', live: 100_000, dead: 90_000, bytes: 0, vacuumedAt: null, invalidIndexes: [] }
  const about = (forMs: number, used: number, dead: number) =>
    aboutServerFacts([{ ...holder, forMs }], { used, max: 100 }, [{ ...table, dead }]).map(({ sentence }) => sentence)
  expect(about(599_000, 90, 90_000)).toEqual([])
  expect(about(7_860_000, 91, 200_000)).toEqual([
    'A transaction has held a snapshot for 2 h (psql, pid 11, ada): claims slow down with every dead row.',
    '91 of 100 connections of the server are in use.',
    'q.task_run has more dead rows than live ones: 200000 against 100000.',
  ])
})
