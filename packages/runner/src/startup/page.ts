/**
 * Starts the page and the metrics of a replica. `@q/server` is an optional peer that only this file imports. Invalid
 * settings are reported before anything starts; if the page cannot start for another reason, that is logged, and the
 * replica works without it.
 */
import { ExplainedError, isExplained } from '@q/schema'
import type { Observe } from '../main/events.ts'
import type { Logger } from '../observers/log.ts'
import type { MetricReadings } from '../observers/metrics.ts'
import { loadModules } from './load-modules.ts'

export interface ReplicaPage {
  /** Undefined: it serves metrics and probes alone. */
  readonly url?: string
  /** The URL with the token: for a terminal, never for a log. */
  readonly link?: string
  /** The separate port for metrics and probes, if one is configured. */
  readonly metricsPort?: number
  /** Follows whether the replica drains. */
  readonly observe: Observe
  close(): Promise<void>
}

export interface PageFacts {
  readonly databaseUrl: string
  readonly version: string
  readonly readMetrics: () => MetricReadings
  readonly log: Logger
}

/** Undefined: the page is switched off, cannot start, or is not installed. */
export type StartPage = (facts: PageFacts) => Promise<ReplicaPage | undefined>

export async function preparePage(env: NodeJS.ProcessEnv): Promise<StartPage> {
  const isOn = isSwitchedOn(env['Q_HTTP'])
  const isNeeded = isOn || Boolean(env['Q_METRICS_ADDRESS'])
  const server = isNeeded ? await loadModules(() => import('@q/server')).catch(unlessMissing) : undefined
  const startServer = isOn ? server?.prepareServer(env) : server?.prepareMetrics(env)
  if (startServer === undefined) return () => Promise.resolve(undefined)
  return async ({ log, ...facts }) => {
    let draining = false
    const isDraining = () => draining
    const onFault = (error: unknown, what: string) => log.error({ err: error, what }, 'the page could not answer')
    try {
      const { close, metricsPort, ...started } = await startServer({ ...facts, isDraining, onFault })
      return {
        ...('url' in started && { url: started.url, link: started.link }),
        ...(metricsPort !== undefined && { metricsPort }),
        observe({ type }) {
          if (type === 'draining') draining = true
          if (type === 'drain-undone') draining = false
        },
        close: () => close('The replica has left.'),
      }
    } catch (error) {
      const problem = isExplained(error)
        ? { code: error.code, what: error.message, why: error.why, fix: error.fix }
        : { err: error }
      log.warn(problem, 'the page did not start; the replica works without it')
      return undefined
    }
  }
}

function isSwitchedOn(text: string | undefined): boolean {
  if (text === undefined || text === '' || text === 'on') return true
  if (text === 'off') return false
  throw new ExplainedError({
    code: 'CONFIG_INVALID',
    what: `A setting is wrong:\n    Q_HTTP=${text}: must be on or off`,
    why: 'The environment of this process says so; nothing was started.',
    fix: 'Correct the variable above, or unset it for its default.',
  })
}

/** Whether the package is missing, as opposed to an error inside the package. */
function unlessMissing(error: unknown): undefined {
  const isMissing = error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND'
  if (isMissing && error.message.includes("'@q/server'")) return undefined
  throw error
}
