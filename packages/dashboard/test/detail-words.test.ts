import { expect, test } from 'vitest'
import { detailWords } from '../src/words/detail-words.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test.each([
  [{}, ''],
  [null, ''],
  [
    { kind: 'retry', dryRun: true, filter: { task: 'resize', status: ['failed', 'expired'] } },
    'kind retry, dry run, task resize, status failed|expired',
  ],
  [{ deadlineMs: 120_000, onDeadline: 'by-task', force: false }, 'deadline 2 min, on deadline by-task, not force'],
  [{ reason: 'bad deploy, again', limit: null, priority: 3 }, 'reason “bad deploy, again”, limit –, priority 3'],
  [{ note: 'a\u001b[31m', ids: ['1', '2'] }, 'note a^[[31m, ids 1|2'],
])('the detail %j reads as %s', (detail, words) => {
  expect(plain(detailWords(detail))).toBe(words)
})
