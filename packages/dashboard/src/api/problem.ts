/** A request that was refused or could not be answered, as the API explains it (RFC 9457 with a code, a reason and a fix). */
export interface ProblemFacts {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly why: string | null
  readonly fix: string | null
  readonly since: string | null
  readonly issues: readonly { readonly path: string; readonly message: string }[]
}

export class RequestProblem extends Error implements ProblemFacts {
  override readonly name = 'RequestProblem'
  readonly status: number
  readonly code: string
  readonly title: string
  readonly why: string | null
  readonly fix: string | null
  readonly since: string | null
  readonly issues: ProblemFacts['issues']

  constructor(facts: ProblemFacts) {
    super(facts.title)
    this.status = facts.status
    this.code = facts.code
    this.title = facts.title
    this.why = facts.why
    this.fix = facts.fix
    this.since = facts.since
    this.issues = facts.issues
  }
}

/** Whether the code says that there is no database to ask. Other problems concern one statement. */
export function isDatabaseAway(code: string): boolean {
  return awayCodes.has(code)
}

const awayCodes = new Set([
  'DATABASE_UNREACHABLE',
  'DATABASE_CONNECTION_LOST',
  'DATABASE_STARTING',
  'DATABASE_FULL',
  'DATABASE_LOGIN_REFUSED',
  'DATABASE_MISSING',
  'DATABASE_TLS_REFUSED',
  'NOT_POSTGRESQL',
])

/** Reads the body of an answer that is not a success; any body, also none, gives a problem. */
export async function problemOfResponse(response: Response): Promise<RequestProblem> {
  const body = asRecord(await response.json().catch(() => undefined))
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : null)
  return new RequestProblem({
    status: response.status,
    code: text('code') ?? `HTTP_${response.status}`,
    title: text('title') ?? `The server answered with status ${response.status}.`,
    why: text('why'),
    fix: text('fix'),
    since: text('since'),
    issues: Array.isArray(body['errors']) ? body['errors'].map(issueOf) : [],
  })
}

/** The server could not be reached at all. */
export function unreachable(error: unknown): RequestProblem {
  const why = error instanceof Error ? error.message : String(error)
  return new RequestProblem({
    status: 0,
    code: 'SERVER_UNREACHABLE',
    title: 'The server does not answer.',
    why,
    fix: 'The page tries again by itself.',
    since: null,
    issues: [],
  })
}

function issueOf(issue: unknown): { path: string; message: string } {
  const { at, problem } = asRecord(issue)
  return { path: typeof at === 'string' ? at : '', message: typeof problem === 'string' ? problem : '' }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
