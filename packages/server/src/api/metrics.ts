/** Metrics for Prometheus. The path is the one that scrapers expect. */
import { routes } from './route.ts'

export const metricsRoutes = routes({
  'GET /metrics': {
    scope: 'read',
    summary: 'Metrics as Prometheus text; without data of runs.',
    answer: 'metrics',
  },
})
