/** Invalid workflow definitions are refused where they are defined. No database. */
import { expect, test } from 'vitest'
import { workflow, type Ref } from '@q/client'
import type * as tasks from './workflow-tasks.ts'

const define = workflow<typeof tasks>()

const wrong: Record<string, [define: () => unknown, why: RegExp]> = {
  'has two steps of one name': [
    () =>
      define(
        'w',
        ({ step }) => void [step('fetch', { repo: 'r' }, { name: 'a' }), step('fetch', { repo: 'r' }, { name: 'a' })],
      ),
    /two steps are named "a"/,
  ],
  'has no steps': [() => define('w', () => 5), /no steps/],
  'has no name': [() => define('', ({ step }) => void step('fetch', { repo: 'r' })), /name of the workflow/],
  'has a quorum that cannot be reached': [
    () =>
      define(
        'w',
        ({ step }) => void step('fetch', { repo: 'r' }, { after: [step('fetch', { repo: 'r' })], join: { quorum: 2 } }),
      ),
    /quorum of 2 cannot be reached by 1/,
  ],
  'has a payload that is not JSON': [
    () => workflow()('w', ({ step }) => void step('x', { big: 1n })),
    /step "x": its payload: .*\/big/,
  ],
  'has a payload that contains itself': [
    () => {
      const round: Record<string, unknown> = {}
      round['round'] = round
      return workflow()('w', ({ step }) => void step('x', round))
    },
    /step "x": its payload/,
  ],
  'has an unknown policy': [
    () => define('w', ({ step }) => void step('fetch', { repo: 'r' }), { onError: 'ignore' as never }),
    /onError must be one of fail, pause, continue/,
  ],
  'is async': [() => define('w', async ({ step }) => void step('fetch', { repo: 'r' })), /async/],
  'uses the item of a map elsewhere': [
    () =>
      define('w', ({ step, map }, input: Ref<{ list: string[] }>) => {
        let item: Ref<string> | undefined
        map('compile', input.list, (file) => ({ file: (item = file) }))
        step('compile', { file: item! })
      }),
    /item of a map outside/,
  ],
  'is given a value where a placeholder is wanted': [
    () => workflow()('w', ({ map }) => void map('x', ['a'] as never, (file) => ({ file }))),
    /map\(\) was given a value/,
  ],
  'is given a part of a result where a step is wanted': [
    () =>
      define(
        'w',
        ({ step }) => void step('fetch', { repo: 'r' }, { after: [step('fetch', { repo: 'r' }).files as never] }),
      ),
    /after was given a part/,
  ],
  'has a condition on the end of a step that must succeed': [
    () =>
      define('w', ({ step, ended }) => {
        const tested = step('test', { binary: 'b' })
        step('publish', { binary: 'b' }, { when: ended(tested, 'FAILED') })
      }),
    /"publish" asks how a step ended that it insists on: give it allowFailed/,
  ],
  'has invalid options, all of which are reported': [
    () =>
      workflow()('w', ({ step }) => {
        const options = {
          alowFailed: true,
          priority: 1e6,
          timeout: 'soon',
          attempts: 0,
          group: '',
          when: true,
          parallel: 2,
        }
        step('x', {}, { name: 'a', ...options } as never)
      }),
    /^step "a": there is no option alowFailed; .*priority.*; .*timeout.*; .*attempts.*; .*group.*; .*when.*; .*parallel\.$/,
  ],
  'compensates with an option that it cannot have': [
    () =>
      define('w', ({ step, compensate }) => {
        compensate(step('publish', { binary: 'b' }), 'unpublish', ({ url }) => ({ url }), { after: [] } as never)
      }),
    /^step "publish": there is no option after/,
  ],
  'compensates a step twice': [
    () =>
      define('w', ({ step, compensate }) => {
        const published = step('publish', { binary: 'b' })
        compensate(published, 'unpublish', ({ url }) => ({ url }))
        compensate(published, 'unpublish', ({ url }) => ({ url }))
      }),
    /"publish" is compensated twice/,
  ],
}

test.each(Object.entries(wrong))('a workflow that %s is refused where it is defined', (_, [mistaken, why]) => {
  expect(mistaken).toThrow(
    expect.objectContaining({ code: 'WORKFLOW_INVALID', why: expect.stringMatching(why) as string }),
  )
})
