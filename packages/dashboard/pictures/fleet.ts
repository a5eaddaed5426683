/**
 * The fleet in the pictures: real replicas with runs in every state. One replica is killed, one was stopped for so long that its
 * runs were taken over, one is draining, and one left with the only code of a task.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { queue, workflow, type Ref } from '@q/client'
import type { Store } from '@q/store'
import { type Replica, startReplica } from '../test/browser/replica.ts'

export interface Fleet extends AsyncDisposable {
  readonly draining: Replica
  /** A run that outlived its first node. */
  readonly recoveredId: string
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const tenants = ['tenant-42', 'tenant-7', 'tenant-9'] as const
const tenantOf = (n: number) => tenants[(n % 3) as 0 | 1 | 2]

/** Three renditions at the same time, then the publication. */
const publish = workflow()('publish video', ({ step }, input: Ref<{ source: string; segments: number }>) => {
  const rendition = (name: string, ms: number) =>
    step('transcode-video', { source: input.source, segments: input.segments, ms }, { name })
  const files = [rendition('480p', 300), rendition('720p', 500), rendition('1080p', 900)]
  const thumbnails = step('render-invoice', { invoice: 1, ms: 700 }, { name: 'thumbnails' })
  return step('publish-video', { files: [...files, thumbnails] }, { name: 'publish' })
})

/** Its second step fails, and the third is never started. */
const broken = workflow()('release assets', ({ step }) => {
  const fonts = step('render-invoice', { invoice: 2, ms: 200 }, { name: 'fonts' })
  const legacy = step('compile-assets', { bundle: 'legacy', fonts }, { name: 'compile legacy' })
  return step('publish-video', { files: [legacy] }, { name: 'publish' })
})

export async function startFleet(databaseUrl: string, store: Store): Promise<Fleet> {
  const replicas: Replica[] = []
  const ending = new AbortController()
  const q = queue(databaseUrl)
  const start = async (name: string, env: Record<string, string> = {}) => {
    const replica = await startReplica(name, databaseUrl, {
      Q_TASKS: fileOf('./tasks.ts'),
      Q_THREADS: '8',
      Q_PRESET: 'default',
      ...env,
    })
    replicas.push(replica)
    return replica
  }
  const old = await start('eu-0', { Q_TASKS: fileOf('./old-tasks.ts'), Q_THREADS: '2' })
  await old.kill('SIGTERM')
  await Promise.all(Array.from({ length: 12 }, () => q.enqueue('old-report', {})))
  const frozen = await start('eu-3', { Q_PRESET: 'fast', Q_THREADS: '2', Q_QUEUES: 'media' })
  const taken = await q.enqueue('transcode-video', video(9), { group: 'tenant-42' })
  await started(taken.id)
  await sleep(6_000)
  const killed = await start('eu-4', { Q_THREADS: '4', Q_QUEUES: 'media' })
  const lost = await Promise.all([
    q.enqueue('upload-archive', { archive: 's3://backups/2026-11-17.tar', ms: 600_000 }, { group: 'tenant-9' }),
    ...[1, 2, 3, 4].map((n) => q.enqueue('transcode-video', video(n), { group: 'tenant-42' })),
  ])
  await Promise.all(lost.map(({ id }) => started(id)))
  frozen.signal('SIGSTOP')
  const [, draining] = await Promise.all([start('eu-1', { Q_CHECK_MS: '2000' }), start('eu-2', { Q_THREADS: '4' })])
  while ((await q.get(taken.id))?.replicaId === frozen.id) await sleep(200)
  frozen.signal('SIGCONT')
  await killed.kill('SIGKILL')
  await start('eu-3', { Q_THREADS: '4' })
  const producing = produce()
  return {
    draining,
    recoveredId: taken.id,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await producing
      await q.close()
      await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')))
    },
  }

  async function started(id: string): Promise<void> {
    while ((await q.get(id))?.status !== 'RUNNING') await sleep(100)
  }

  async function produce(): Promise<void> {
    await q.setGroupWeight({ group: 'tenant-42', queue: 'media' }, 2)
    await q.schedule('nightly report', {
      task: 'nightly-report',
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      payload: {},
    })
    await q.schedule('refresh prices', { task: 'refresh-prices', every: '10s', payload: {} })
    await q.schedule('rebuild search', {
      task: 'embed-documents',
      cron: '30 2 * * *',
      payload: { index: 'search', documents: 5000, ms: 60_000 },
    })
    await q.pauseSchedule('rebuild search', 'anna')
    await store.pauseQueue('reports', 'oncall', 'bad deploy')
    for (let n = 0; n < 9; n++) await q.enqueue('nightly-report', {})
    await q.enqueue('transcode-video', video(30), { delay: '20m', group: 'tenant-7' })
    await q.enqueue('transcode-video', video(31), { expires: '1s', delay: '2s' })
    const font = await q.enqueue('convert-font', { seconds: 3_600 })
    for (let n = 10; n < 16; n++) await q.enqueue('transcode-video', video(n), { group: tenantOf(n) })
    await q.start(publish, { source: 's3://media-in/42/9a1f.mov', segments: 24 })
    await q.start(broken, {})
    await started(font.id)
    for (let round = 0; !ending.signal.aborted; round++) {
      if (round === 10) await q.cancel(font.id)
      if (round % 240 === 60) await q.start(publish, { source: `s3://media-in/42/${round}.mov`, segments: 60 })
      const { runs } = await q.list({ status: ['AVAILABLE'], queue: 'default' }, { limit: 30 })
      if (runs.length < 30) {
        const group = tenantOf(round)
        await q.enqueue('render-invoice', { invoice: round, ms: 200 + (round % 5) * 90 }, { group })
        await q.enqueue('render-invoice', { invoice: round * 3, ms: 150 }, { group })
        if (round % 3 === 0) await q.enqueue('embed-documents', { index: group, documents: 40, ms: 2_500 }, { group })
        if (round % 15 === 5) await q.enqueue('compile-assets', { bundle: round % 30 === 5 ? 'legacy' : 'app' })
        if (round % 80 === 9) await q.enqueue('transcode-video', video(100 + round), { group })
      }
      await sleep(500, undefined, { signal: ending.signal }).catch(() => undefined)
    }
  }
}

function video(n: number) {
  return {
    source: `s3://media-in/42/${(n * 7_919).toString(16)}.mov`,
    segments: 200,
    ms: 1_200 + (n % 7) * 130,
    assetId: `90071992547409${n}`,
    uploadToken: 'eyJhbGciOiJIUzI1NiJ9.42',
    profiles: ['1080p', '720p', '480p'],
  }
}
