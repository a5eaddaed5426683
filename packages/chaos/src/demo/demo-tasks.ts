/** The tasks of the demo. Each computes for some seconds, where real ones would take minutes. */
import { createHash } from 'node:crypto'
import { Fail, task, type TaskContext } from '@q/task'

export interface VideoPayload {
  readonly video: string
  readonly format: string
  /** How long it computes. */
  readonly ms: number
}

/** This task may be started again after a crash, and continues at its checkpoint. */
export const transcodeVideo = task(
  { queue: 'media', onCrash: 'retry', timeout: '2m' },
  async ({ video, format, ms }: VideoPayload, ctx: TaskContext<{ frame: number }>) => {
    const frames = 40
    for (let frame = ctx.resumed?.frame ?? 0; frame < frames; frame++) {
      compute(ms / frames)
      ctx.heartbeat((frame + 1) / frames, `frame ${(frame + 1) * 25} of ${frames * 25}`)
      if (frame % 10 === 9) await ctx.checkpoint({ frame: frame + 1 })
    }
    ctx.log.info({ format }, 'transcoded')
    return { file: `${video}.${format}` }
  },
)

/** Fails for one invoice in 29, at each of its attempts. */
export const renderInvoice = task(
  { retry: { attempts: 3, delay: '1s' } },
  ({ invoice, ms }: { invoice: number; ms: number }) => {
    if (invoice % 29 === 0) throw new Error(`read ECONNRESET while loading the fonts of invoice ${invoice}`)
    return { pages: 1 + (invoice % 4), digest: compute(ms) }
  },
)

/** Ends FAILED if its replica dies: an index must not be written twice. One run per index at a time. */
export const embedDocuments = task(
  { queue: 'ai', onCrash: 'fail', concurrency: { key: '/index' } },
  ({ documents, ms }: { index: string; documents: number; ms: number }, ctx) => {
    for (let document = 1; document <= documents; document++) {
      compute(ms / documents)
      ctx.heartbeat(document / documents, `${document} of ${documents} documents`)
    }
    return { vectors: documents }
  },
)

export const compileAssets = task(
  { queue: 'media', onCrash: 'retry' },
  ({ bundle, ms }: { bundle: string; ms: number }) => {
    if (bundle === 'legacy') throw new Fail('Unexpected token "<" in legacy/main.js')
    return { bundle, digest: compute(ms) }
  },
)

export const publishVideo = task(({ files }: { files: { file: string }[] }) => ({ published: files.length }))

export const refreshReport = task({ queue: 'reports' }, () => ({ digest: compute(300) }))

/** Computes on this thread. Returns a digest, so that the work cannot be optimised away. */
function compute(ms: number): string {
  let digest = ''
  for (const end = performance.now() + ms; performance.now() < end;)
    digest = createHash('sha256').update(digest).digest('hex')
  return digest.slice(0, 12)
}
