/** Tasks of the fleet in the pictures. They wait more than they compute, so that a small machine can show a large fleet. */
import { execSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fail, task, type TaskContext } from '@q/task'

interface Video {
  readonly source: string
  readonly segments: number
  /** How long a segment takes. */
  readonly ms: number
}

export const transcodeVideo = task(
  { name: 'transcode-video', queue: 'media', onCrash: 'retry', timeout: '30m', maxSilent: '2m' },
  async ({ source, segments, ms }: Video, ctx: TaskContext<{ segment: number }>) => {
    const first = ctx.resumed?.segment ?? 0
    ctx.log.info(first === 0 ? `source ${source}, ${segments} segments` : `resumed at segment ${first}`)
    for (let segment = first + 1; segment <= segments; segment++) {
      await sleep(ms, undefined, { signal: ctx.signal })
      ctx.heartbeat(segment / segments, `segment ${segment}/${segments}`)
      if (segment % 12 === 0) await ctx.checkpoint({ segment })
      if (segment % 20 === 0) ctx.log.info(`segment ${segment}/${segments} in ${ms} ms`)
      if (segment % 52 === 0) ctx.log.warn(`cdn.internal slow: 2140 ms for segment ${segment}, retrying once`)
    }
    return { renditions: 3, bytes: segments * 2_160_000 }
  },
)

export const embedDocuments = task(
  { name: 'embed-documents', queue: 'ai', onCrash: 'retry', concurrency: { key: '/index', limit: 2 } },
  async ({ documents, ms }: { readonly index: string; readonly documents: number; readonly ms: number }, ctx) => {
    for (let document = 1; document <= documents; document++) {
      await sleep(ms / documents, undefined, { signal: ctx.signal })
      ctx.heartbeat(document / documents, `${document} of ${documents} documents`)
    }
    return { vectors: documents }
  },
)

export const renderInvoice = task(
  { name: 'render-invoice', retry: { attempts: 3, delay: '1s', maxDelay: '2s' } },
  async ({ invoice, ms }: { readonly invoice: number; readonly ms: number }, ctx) => {
    await sleep(ms, undefined, { signal: ctx.signal })
    if (invoice % 17 === 0)
      throw new Error(`read ECONNRESET cdn.internal while loading the fonts of invoice ${invoice}`)
    return { pages: 1 + (invoice % 4) }
  },
)

/** An upload must not be made twice: a crash ends it. */
export const uploadArchive = task(
  { name: 'upload-archive', queue: 'media', onCrash: 'fail' },
  async ({ ms }: { readonly archive: string; readonly ms: number }, ctx) => {
    for (let part = 1; part <= 10; part++) {
      await sleep(ms / 10, undefined, { signal: ctx.signal })
      ctx.heartbeat(part / 10, `part ${part}/10`)
    }
    return { parts: 10 }
  },
)

export const compileAssets = task(
  { name: 'compile-assets', queue: 'media' },
  async ({ bundle }: { bundle: string }) => {
    await sleep(400)
    if (bundle === 'legacy') throw new Fail('Unexpected token "<" in legacy/main.js')
    return { bundle }
  },
)

/** Waits in native code, which nothing can interrupt. */
export const convertFont = task({ name: 'convert-font' }, ({ seconds }: { readonly seconds: number }, ctx) => {
  ctx.heartbeat(0.64, 'glyph 810/1260')
  execSync(`sleep ${seconds}`)
  return 'converted'
})

export const publishVideo = task(
  { name: 'publish-video' },
  async ({ files }: { readonly files: readonly unknown[] }) => {
    await sleep(300)
    return { published: files.length }
  },
)

export const nightlyReport = task({ name: 'nightly-report', queue: 'reports' }, async () => {
  await sleep(200)
  return { rows: 1204 }
})

export const refreshPrices = task({ name: 'refresh-prices' }, async () => {
  await sleep(150)
  return { prices: 412 }
})
