/** The workflow of the demo: three formats of a video at the same time, then its publication. */
import { workflow, type Ref } from '@q/client'
import type * as tasks from './demo-tasks.ts'

export const publish = workflow<typeof tasks>()('publish video', ({ step }, input: Ref<{ video: string }>) => {
  const transcode = (format: string, ms: number) =>
    step('transcodeVideo', { video: input.video, format, ms }, { name: format })
  const files = [transcode('480p.mp4', 1_000), transcode('720p.mp4', 2_000), transcode('1080p.mp4', 3_000)]
  return { published: step('publishVideo', { files }).published }
})
