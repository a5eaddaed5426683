/** Metrics and probes without a page, for a replica with `Q_HTTP=off`. */
import { connect, createStore } from '@q/store'
import { createProbes, hasAnswered } from '../http/probes.ts'
import type { ServerOptions } from '../server.ts'
import { createMetrics } from './metrics.ts'
import { openMetricsPort, type MetricsAddress } from './metrics-port.ts'

export interface MetricsServer {
  readonly metricsPort: number
  close(): Promise<void>
}

export type MetricsOptions = Pick<ServerOptions, 'databaseUrl' | 'isDraining' | 'readMetrics' | 'onFault'>

export async function startMetricsServer(at: MetricsAddress, options: MetricsOptions): Promise<MetricsServer> {
  const { databaseUrl, isDraining = () => false, readMetrics, onFault = () => {} } = options
  const reading = connect(databaseUrl, { purpose: 'page', connectionsMax: 1 })
  const reads = createStore(reading.db)
  const probes = createProbes({ started: hasAnswered(reads), draining: isDraining })
  const metrics = createMetrics({ reads, replica: readMetrics, onFault })
  try {
    const { port, close } = await openMetricsPort(at, { metrics, probes, onFault })
    return {
      metricsPort: port,
      async close() {
        await close()
        await reading.close()
      },
    }
  } catch (error) {
    await reading.close()
    throw error
  }
}
