/** A node that no process is behind: its row and its heartbeats are written by the test. */
import type { Store } from '@q/store'

export interface FakeNode {
  /** Also its id. */
  readonly name: string
  readonly slots?: number
  readonly beatMs?: number
  readonly staleMs?: number
}

const hour = 3_600_000

export async function registerNode(store: Store, node: FakeNode): Promise<void> {
  const { name, slots = 1, beatMs = 10_000, staleMs = hour } = node
  await store.registerReplica({
    id: name,
    name,
    hostname: 'test',
    pid: 1,
    version: '1.0.0',
    queues: [],
    tasks: ['hello'],
    capabilities: [],
    slots,
    preset: 'default',
    onCrash: 'retry',
    thresholds: {
      replicaBeatMs: beatMs,
      replicaStaleMs: staleMs,
      checkEveryMs: 30_000,
      claimerBeatMs: 30_000,
      claimerStaleMs: hour,
      runnerBeatMs: 30_000,
      runnerStaleMs: hour,
    },
  })
}

export async function beatOfNode(store: Store, { name, slots = 1 }: FakeNode, cpuPercent: number): Promise<void> {
  const running = { state: 'running', task: 'hello', runId: '1', isolation: 'thread', stoppingFor: null } as const
  await store.upsertReplicaHeartbeat(name, {
    health: 'healthy',
    cpuPercent,
    memoryMb: 300,
    activeRuns: slots,
    freeSlots: 0,
    completed: 0,
    failed: 0,
    uptimeS: 1,
    threads: Array.from({ length: slots }, (_, slot) => ({
      slot,
      ...running,
      cpuPercent: 50,
      heapMb: 40,
      silentMs: 10,
    })),
  })
}
