import { expect, test } from 'vitest'
import { openCheckpoints } from '../src/thread/checkpoints.ts'

/** Saves, as the main thread does it; what contains "bad" is refused. */
function saving() {
  const saved: unknown[] = []
  return {
    saved,
    async save(document: string) {
      await Promise.resolve()
      if (document.includes('bad')) throw new Error('refused')
      saved.push(JSON.parse(document))
    },
  }
}

test('a checkpoint that is refused does not undo one that was saved after it', async () => {
  const { saved, save } = saving()
  const { checkpoint, once } = openCheckpoints(null, save)
  await checkpoint('first')
  const answers = await Promise.allSettled([checkpoint('bad'), checkpoint('second')])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  await once('step', () => 1)
  expect(saved.at(-1)).toEqual({ state: 'second', once: { step: 1 } })
})

test('a refused state is not saved with a later checkpoint', async () => {
  const { saved, save } = saving()
  const { checkpoint, once } = openCheckpoints(null, save)
  await Promise.allSettled([checkpoint('bad'), checkpoint('bad too'), once('a', () => 'bad')])
  await once('b', () => 2)
  expect(saved).toEqual([{ once: { b: 2 } }])
})
