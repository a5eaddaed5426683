/** Attacks that dashboards of other systems have met: a request each, and the status and code that it is answered with. */
import type { RawRequest } from './raw-request.ts'

type Attack = readonly [name: string, request: RawRequest, status: number, code: string]

interface Target {
  readonly port: number
  readonly token: string
  /** Both halves of a valid session. */
  readonly page: { readonly Cookie: string; readonly 'Q-Proof': string }
}

const json = { 'Content-Type': 'application/json' }
const run = JSON.stringify({ task: 'hello' })

export function attacks({ port, token, page }: Target): readonly Attack[] {
  const { Cookie: cookie, 'Q-Proof': proof } = page
  const bearer = { Authorization: `Bearer ${token}` }
  return [
    [
      'an enqueue without a token, from loopback',
      { method: 'POST', path: '/api/runs', headers: json, body: run },
      401,
      'UNAUTHORIZED',
    ],
    [
      'an enqueue with a wrong token',
      { method: 'POST', path: '/api/runs', headers: { ...json, Authorization: 'Bearer q_wrong' }, body: run },
      401,
      'UNAUTHORIZED',
    ],
    [
      'a DELETE of another site, with a valid session',
      { method: 'DELETE', path: '/api/nodes/x/drain', headers: { ...page, Origin: 'http://evil' } },
      403,
      'CROSS_SITE',
    ],
    ...['/', '/api/runs', '/api/events', '/healthz', '/index.html'].map(
      (path) =>
        [
          `a rebound name on ${path}`,
          { path, headers: { ...bearer, Host: `rebind.attacker.test:${port}` } },
          421,
          'HOST_NOT_ALLOWED',
        ] as const,
    ),
    [
      'a name that only starts with ours',
      { path: '/', headers: { Host: `127.0.0.1:${port}.evil` } },
      421,
      'HOST_NOT_ALLOWED',
    ],
    ['another port in the Host', { path: '/', headers: { Host: '127.0.0.1:1' } }, 421, 'HOST_NOT_ALLOWED'],
    [
      'the form of another site, with the cookie',
      {
        method: 'POST',
        path: '/api/runs',
        headers: { Cookie: cookie, Origin: 'http://evil', 'Content-Type': 'text/plain' },
        body: run,
      },
      403,
      'CROSS_SITE',
    ],
    [
      'a form without an Origin, with the cookie',
      { method: 'POST', path: '/api/runs', headers: { Cookie: cookie, 'Content-Type': 'text/plain' }, body: run },
      403,
      'CROSS_SITE',
    ],
    [
      'a sandboxed frame',
      { method: 'POST', path: '/api/runs', headers: { ...page, ...json, Origin: 'null' }, body: run },
      403,
      'CROSS_SITE',
    ],
    [
      'a preflight',
      {
        method: 'OPTIONS',
        path: '/api/runs',
        headers: { Origin: 'http://evil', 'Access-Control-Request-Method': 'POST' },
      },
      405,
      'METHOD_NOT_ALLOWED',
    ],
    [
      'a neighbour on another port',
      { path: '/api/runs', headers: { ...page, Origin: 'http://127.0.0.1:3000', 'Sec-Fetch-Site': 'same-site' } },
      403,
      'CROSS_SITE',
    ],
    [
      'a cross-site read without an Origin',
      { path: '/api/tasks', headers: { ...page, 'Sec-Fetch-Site': 'cross-site' } },
      403,
      'CROSS_SITE',
    ],
    ['a stolen cookie without the proof', { path: '/api/tasks', headers: { Cookie: cookie } }, 401, 'UNAUTHORIZED'],
    ['a proof without the cookie', { path: '/api/tasks', headers: { 'Q-Proof': proof } }, 401, 'UNAUTHORIZED'],
    ['a wrong proof', { path: '/api/tasks', headers: { ...page, 'Q-Proof': `${proof}x` } }, 401, 'UNAUTHORIZED'],
    [
      'a wrong bearer token beside a valid session',
      { path: '/api/tasks', headers: { ...page, Authorization: 'Bearer no' } },
      401,
      'UNAUTHORIZED',
    ],
    ['a path that contains the name of a probe', { path: '/api/runs/healthz' }, 401, 'UNAUTHORIZED'],
    ['a path that leaves a probe', { path: '/healthz/../api/runs' }, 401, 'UNAUTHORIZED'],
    ['an encoded path that leaves a probe', { path: '/healthz%2f..%2fapi/runs' }, 404, 'NOT_FOUND'],
    ['a path with two slashes', { path: '//healthz/api/runs' }, 404, 'NOT_FOUND'],
    ['a path below a probe', { path: '/healthz/x' }, 404, 'NOT_FOUND'],
    ['an unknown route without a token', { path: '/api/nothing' }, 401, 'UNAUTHORIZED'],
    ['an unknown route', { path: '/api/nothing', headers: bearer }, 404, 'NOT_FOUND'],
    ['an encoded traversal to the token', { path: '/assets/..%2f..%2f.q/token' }, 404, 'NOT_FOUND'],
    ['a traversal to the token', { path: '/assets/../../.q/token' }, 404, 'NOT_FOUND'],
    ['a traversal in the id of a run', { path: '/api/runs/..%2f/logs', headers: bearer }, 404, 'NOT_FOUND'],
    ['a huge limit', { path: '/api/runs?limit=1000000000', headers: bearer }, 400, 'PARAMETER_INVALID'],
    ['a limit in scientific notation', { path: '/api/runs?limit=1e9', headers: bearer }, 400, 'PARAMETER_INVALID'],
    [
      'a huge number of points',
      { path: '/api/series?metric=rate&points=1000000000', headers: bearer },
      400,
      'PARAMETER_INVALID',
    ],
    ['a time that is no time', { path: '/api/lanes?from=-1', headers: bearer }, 400, 'PARAMETER_INVALID'],
    [
      'a window of a century',
      { path: '/api/lanes?from=1900-01-01T00:00:00.000Z', headers: bearer },
      400,
      'PARAMETER_INVALID',
    ],
    ['an unknown parameter of the stream', { path: '/api/events?retry=0', headers: bearer }, 400, 'PARAMETER_INVALID'],
    ['an unknown topic', { path: '/api/events?topics=everything', headers: bearer }, 400, 'PARAMETER_INVALID'],
    [
      'too many conditions',
      { path: `/api/runs?${Array.from({ length: 21 }, () => 'status=FAILED').join('&')}`, headers: bearer },
      400,
      'PARAMETER_INVALID',
    ],
    ['a parameter that is there twice', { path: '/api/runs?task=a&task=b', headers: bearer }, 400, 'PARAMETER_INVALID'],
    ['a cursor of another server', { path: '/api/actions?cursor=abc', headers: bearer }, 400, 'CURSOR_INVALID'],
    [
      'a pattern of a schedule that takes forever',
      {
        method: 'PUT',
        path: '/api/schedules/x',
        headers: { ...bearer, ...json },
        body: JSON.stringify({ task: 'hello', cron: '0 0 1--100000000 * *' }),
      },
      400,
      'SCHEDULE_INVALID',
    ],
    [
      'a long pattern of a schedule',
      {
        method: 'PUT',
        path: '/api/schedules/x',
        headers: { ...bearer, ...json },
        body: JSON.stringify({ task: 'hello', cron: '1,'.repeat(5_000) }),
      },
      400,
      'PARAMETER_INVALID',
    ],
    ['a token in the address', { path: `/api/tasks?token=${token}` }, 400, 'TOKEN_IN_URL'],
    ['a token in the address of the page', { path: `/?token=${token}` }, 400, 'TOKEN_IN_URL'],
    [
      'an address that is too long',
      { path: `/api/runs?task=${'a'.repeat(8_200)}`, headers: bearer },
      414,
      'URL_TOO_LONG',
    ],
    [
      'too many headers',
      {
        path: '/api/tasks',
        headers: { ...bearer, ...Object.fromEntries(Array.from({ length: 120 }, (_, place) => [`X-${place}`, '1'])) },
      },
      431,
      'TOO_MANY_HEADERS',
    ],
    [
      'a body that is too large',
      { method: 'POST', path: '/api/runs', headers: { ...bearer, ...json }, body: `"${'a'.repeat(1_200_000)}"` },
      413,
      'BODY_TOO_LARGE',
    ],
    [
      'a body that is nested too deep',
      {
        method: 'POST',
        path: '/api/runs',
        headers: { ...bearer, ...json },
        body: `{"task":"hello","payload":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      },
      400,
      'PARAMETER_INVALID',
    ],
    [
      'a prototype in the body',
      {
        method: 'POST',
        path: '/api/nodes/x/drain',
        headers: { ...bearer, ...json },
        body: '{"__proto__":{"admin":true}}',
      },
      400,
      'PARAMETER_INVALID',
    ],
    [
      'a body that is not JSON',
      { method: 'POST', path: '/api/runs', headers: { ...bearer, ...json }, body: '{task' },
      400,
      'PARAMETER_INVALID',
    ],
    [
      'a body that is called text',
      { method: 'POST', path: '/api/runs', headers: { ...bearer, 'Content-Type': 'text/plain' }, body: run },
      415,
      'CONTENT_TYPE_INVALID',
    ],
    ['an unknown method', { method: 'PROPFIND', path: '/api/tasks', headers: bearer }, 405, 'METHOD_NOT_ALLOWED'],
    ['the wrong method of a route', { method: 'PUT', path: '/api/tasks', headers: bearer }, 405, 'METHOD_NOT_ALLOWED'],
  ]
}
