/** Paths for each GET of the table, on a database with a little of everything (seed.ts). */
import type { seed } from './seed.ts'

type Ids = Awaited<ReturnType<typeof seed>> & { readonly operationId: string }

export function getPaths(ids: Ids): Readonly<Record<string, readonly string[]>> {
  return {
    'GET /api/session': ['/api/session'],
    'GET /api/overview': ['/api/overview'],
    'GET /api/attention': ['/api/attention'],
    'GET /api/series': ['rate', 'wait', 'duration', 'oldest', 'ready'].map(
      (metric) => `/api/series?metric=${metric}&points=10`,
    ),
    'GET /api/queues': ['/api/queues'],
    'GET /api/queues/{queue}': ['/api/queues/default'],
    'GET /api/nodes': ['/api/nodes', '/api/nodes?stopped=true'],
    'GET /api/nodes/{id}': ['/api/nodes/aaa', '/api/nodes/node-bbb'],
    'GET /api/nodes/{id}/heartbeat': ['/api/nodes/node-aaa/heartbeat'],
    'GET /api/lanes': ['/api/lanes'],
    'GET /api/runs': [
      '/api/runs',
      '/api/runs?status=failed,done&task=hello&queue=default&node=node-aaa&limit=1',
      ...['newest', 'running', 'failed', 'waiting', 'review', 'stopping'].map((view) => `/api/runs?view=${view}`),
      '/api/runs?payload=name~ended&look=1000',
      '/api/runs?code=TASK_ERROR&since=2020-01-01T00:00:00.000Z',
    ],
    'GET /api/runs/count': ['/api/runs/count?status=failed&max=10'],
    'GET /api/runs/{id}': Object.values(ids)
      .slice(0, 5)
      .map((id) => `/api/runs/${id}`),
    'GET /api/runs/{id}/payload': [`/api/runs/${ids.endedId}/payload`],
    'GET /api/runs/{id}/result': [`/api/runs/${ids.endedId}/result`, `/api/runs/${ids.heldId}/result`],
    'GET /api/runs/{id}/why': [`/api/runs/${ids.waitingId}/why`, `/api/runs/${ids.endedId}/why`],
    'GET /api/runs/{id}/logs': [`/api/runs/${ids.failedId}/logs`, `/api/runs/${ids.failedId}/logs?after=1.1&limit=5`],
    'GET /api/operations': ['/api/operations'],
    'GET /api/operations/{id}': [`/api/operations/${ids.operationId}`],
    'GET /api/workflows': [
      '/api/workflows',
      '/api/workflows?status=RUNNING&name=build',
      '/api/workflows?status=RUNNING,PAUSED',
    ],
    'GET /api/workflows/{id}': [`/api/workflows/${ids.workflowId}`],
    'GET /api/workflows/{id}/steps': [`/api/workflows/${ids.workflowId}/steps`],
    'GET /api/schedules': ['/api/schedules'],
    'GET /api/schedules/{name}': ['/api/schedules/nightly'],
    'GET /api/errors': ['/api/errors', '/api/errors?muted=false&task=hello'],
    'GET /api/errors/{fingerprint}': [],
    'GET /api/recoveries': ['/api/recoveries', '/api/recoveries?toReview=true'],
    'GET /api/stale': ['/api/stale'],
    'GET /api/destinations': ['/api/destinations'],
    'GET /api/deliveries': ['/api/deliveries', '/api/deliveries?givenUp=true'],
    'GET /api/workers/{workerId}/runs': [],
    'GET /api/tasks': ['/api/tasks'],
    'GET /api/actions': ['/api/actions'],
    'GET /api/events': [],
    'GET /api/openapi.json': ['/api/openapi.json'],
    'GET /metrics': ['/metrics'],
  }
}
