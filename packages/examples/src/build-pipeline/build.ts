/** fetch → n compiles → link → test → publish → announce. The function runs once, here; what it leaves is data. */
import { workflow, type Ref } from '@q/client'
import type * as tasks from './tasks.ts'

export interface BuildRequest {
  readonly repo: string
  /** How many files the repository has. */
  readonly files: number
  /** What the program must print to be published; null: anything. */
  readonly expected: number | null
}

export const build = workflow<typeof tasks>()(
  'build',
  ({ step, map, is, compensate, orMissing }, input: Ref<BuildRequest>) => {
    const source = step('fetch', { repo: input.repo, files: input.files })
    const objects = map('compile', source.files, (file) => ({ file }), { parallel: 4 })
    const linked = step('link', { objects })
    const tested = step('test', { code: linked.code, expected: input.expected }, { timeout: '5m' })
    const published = step('publish', { digest: linked.digest, sum: tested.sum }, { when: is(tested.passed) })
    compensate(published, 'unpublish', ({ url }) => ({ url }))
    step('announce', { url: published.url })
    return { digest: linked.digest, passed: tested.passed, url: orMissing(published.url) }
  },
)
