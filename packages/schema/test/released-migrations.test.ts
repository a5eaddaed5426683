/**
 * What was released is never edited: databases that have it would differ from those that get it later.
 * A new migration adds a line here.
 */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { migrationFiles, programLevel } from '@q/schema'

const released: Record<string, string> = {
  '0001-task-runs': 'c8fb780c65f98f68fa7288a9434a763a55ad39e121e6e7326b79f970cbc44d79',
  '0002-heartbeats': 'c51955892d3ed31cc80c056ed0d6730c1fc2e42fa1dcab24308d3005e53a5ac3',
  '0003-gates-and-recovery': '64926066dd6261301f62c4395cb75caff180fbc8982ad528b4c05e355fb2102d',
  '0004-workflows-outbox-timeline': '872573deb303c9eb56e356c5e3aa8f2d51b503fc2fb188aed6a6f46681090fa0',
  '0005-schedules-and-debounce': '780b6cf2c2a0459def8aae168354e2ca162c1a4e373d6a3a664cb3b4f14addfb',
  '0006-workflow-steps': 'a572b13c1ef8b48665cd47cb3905688f742a5ffafa7cd565ce639b465b3b5da1',
  '0007-enqueue-function': 'c19e8b5ad7eb753208feac59a03b32d926dd15cdba7d1d4ac7b47ce8330ca373',
  '0008-task-gate-and-keys': '6ff342dc3cbaf1f8f538958332dfe0cf16e1fee84f4ceec0808c76fe4d13cde4',
  '0009-keys-and-times': '163af284d3b3b55ca04f535b489dc9456677e37055ad4f90389a3f512a395e10',
  '0010-shared-trust': '76a8751461103b96ca3ccea6900cf37fabfd156e859921763fbbf2451a6e1259',
  '0011-what-columns-say': '1b6102fdb6622ab200e711dba2dedabad887c36a6f2eddd2e634efff4953b039',
  '0012-drain-and-compatibility': '3b3b86f720ebe57b49570c199e7ab678c44f9ffd9b878a4fafd3bf5949ddf84a',
}

const files = await migrationFiles()

test('the newest migration is 0012-drain-and-compatibility', () => {
  expect(files.at(-1)?.name).toBe('0012-drain-and-compatibility')
})

test('no released migration has been edited, removed or renamed', () => {
  const now = files.map((file) => [file.name, createHash('sha256').update(file.sql).digest('hex')])
  expect(Object.fromEntries(now)).toEqual(released)
})

test('each migration has its own number, in order: the highest is the level of a program', async () => {
  const levels = files.map((file) => file.level)
  expect(levels).toEqual([...new Set(levels)].toSorted((a, b) => a - b))
  expect(await programLevel()).toBe(levels.at(-1))
})
