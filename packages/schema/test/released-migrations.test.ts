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
  '0008-task-gate-and-keys': '7276151a8a044dfd5a56f54138976e760880bae9273e4f6b066d24010c409e8c',
  '0009-keys-and-times': 'c37385a27afed55578446df96e1711620f3778ce91803782a7c51494bddc55f9',
  '0010-shared-trust': '65cc81ddb38fed829c887cdac7d5bc0a7fe38ec7a7cc18eef9d558debfacc5fa',
  '0011-column-comments': 'f9e106d8174d98af07e092f22af562daf8cc72c087ff5b425cf05bb790cf8973',
  '0012-drain-and-compatibility': '3f8715b38a7494fdb049ce255ce3875c9d2dbd12ceedd56cd658e7aa7bea7308',
  '0013-leaner-guard': 'a78ffa0dea6a3a6f287146d4c31320391f5113e9ef8e39ad8d309502280df2ad',
  '0014-operate': '31a313077285178af3d7a91c8d69e59b687c83f00c6aa92f230e5653f26319a7',
  '0015-comments': '4d54dff330cae8968e7c26b27700e12fcf2fd6f45163a8c65b3604fd4b1b6856',
  '0016-destinations': '49c36a0c3589308cd2ea2e66f6a0e4c55cb13d59606057a5676def2affef5b5b',
  '0017-wakes': 'b62a8fcb9f7f95c5d574498dd14200519529dbe1b5436ec95d67ad5a9e04978d',
  '0018-batched-reports': '1fbf347dfcab2b44e8e2c3ab8f70ac1215f43dff77a8b817cf89017691d600c7',
  '0019-more-comments': 'baf49795a3665c77c656666341da1a3757de9d4c759fa05eb050ae99e6806174',
  '0020-unread-columns': 'c06e97431562fe97c0b30515e76337e3609a3e6b02c8f28b83027dcf8416581b',
  '0021-report-joins': '44dc5471b79e31a4890505763b7ef86f9b62added7dc847ecdeeb7abffb9455b',
}

const files = await migrationFiles()

test('the newest migration is 0021-report-joins', () => {
  expect(files.at(-1)?.name).toBe('0021-report-joins')
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
