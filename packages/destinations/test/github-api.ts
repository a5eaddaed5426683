/** The rules of GitHub's API that senders depend on, for the stand-in (`github-server.ts`). */

export interface StoredComment {
  readonly id: number
  body: string
  readonly user: string
  readonly createdAt: Date
  updatedAt: Date
}

export interface StoredIssue {
  readonly number: number
  readonly comments: StoredComment[]
  readonly labels: string[]
  readonly assignees: string[]
}

export interface ApiRequest {
  readonly method: string
  readonly url: URL
  readonly authorization: string | undefined
  readonly body: unknown
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Github {
  readonly token: string
  readonly repositories: readonly string[]
  /** By `owner/name#number`, in lower case. */
  readonly issues: ReadonlyMap<string, StoredIssue>
  nextId: number
}

interface Found {
  readonly github: Github
  readonly repository: string
  readonly rest: string
  readonly url: URL
  readonly body: Readonly<Record<string, unknown>>
}

const bodyLengthMax = 65_536

export function answerRequest(github: Github, { method, url, authorization, body }: ApiRequest): Answer {
  if (!/^(token|bearer) /i.test(authorization ?? '') || authorization?.split(' ')[1] !== github.token)
    return refusal(401, 'Bad credentials')
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(url.pathname) ?? []
  const repository = github.repositories.find((known) => known.toLowerCase() === name.toLowerCase())
  if (repository === undefined) return refusal(404, 'Not Found')
  const found: Found = { github, repository, rest, url, body: (body ?? {}) as Found['body'] }
  if (rest === '' && method === 'GET')
    return { status: 200, body: { full_name: repository, archived: false, has_issues: true } }
  if (rest.startsWith('/issues/comments/') && method === 'PATCH') return editComment(found)
  return answerIssue(method, found)
}

function answerIssue(method: string, found: Found): Answer {
  const [, number = '', part = ''] = /^\/issues\/(\d+)\/(.+)$/.exec(found.rest) ?? []
  const issue = found.github.issues.get(`${found.repository.toLowerCase()}#${number}`)
  if (issue === undefined) return refusal(404, 'Not Found')
  const [kind, label] = part.split('/')
  switch (`${method} ${kind}`) {
    case 'GET comments':
      return listComments(issue, found)
    case 'POST comments':
      return createComment(issue, found)
    case 'POST labels':
      return addAll(issue.labels, found.body['labels'], 200)
    case 'DELETE labels':
      return removeLabel(issue, decodeURIComponent(label ?? ''))
    case 'POST assignees':
      return addAll(issue.assignees, found.body['assignees'], 201)
    case 'DELETE assignees':
      for (const user of found.body['assignees'] as string[]) remove(issue.assignees, user)
      return { status: 200, body: { assignees: issue.assignees } }
    default:
      return refusal(404, 'Not Found')
  }
}

function createComment(issue: StoredIssue, { github, body }: Found): Answer {
  const text = body['body']
  const problem = bodyProblem(text)
  if (problem !== undefined) return problem
  const now = new Date()
  const comment = { id: github.nextId++, body: String(text), user: 'q-bot', createdAt: now, updatedAt: now }
  issue.comments.push(comment)
  return { status: 201, body: shown(comment) }
}

function editComment({ github, repository, rest, body }: Found): Answer {
  const id = Number(rest.split('/').at(-1))
  const comment = [...github.issues]
    .filter(([key]) => key.startsWith(`${repository.toLowerCase()}#`))
    .flatMap(([, { comments }]) => comments)
    .find((stored) => stored.id === id)
  if (comment === undefined) return refusal(404, 'Not Found')
  const problem = bodyProblem(body['body'])
  if (problem !== undefined) return problem
  comment.body = String(body['body'])
  comment.updatedAt = new Date()
  return { status: 200, body: shown(comment) }
}

/** Oldest first, in pages; the header `link` names the next one. */
function listComments(issue: StoredIssue, { url }: Found): Answer {
  const since = Date.parse(url.searchParams.get('since') ?? '1970-01-01T00:00:00Z')
  const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 100)
  const page = Number(url.searchParams.get('page') ?? 1)
  const matching = issue.comments.filter(({ updatedAt }) => updatedAt.getTime() >= since)
  const next = new URL(url)
  next.searchParams.set('page', String(page + 1))
  const more = matching.length > page * size
  return {
    status: 200,
    headers: more ? { link: `<${next.href}>; rel="next"` } : {},
    body: matching.slice((page - 1) * size, page * size).map(shown),
  }
}

function removeLabel(issue: StoredIssue, label: string): Answer {
  if (!issue.labels.includes(label)) return refusal(404, 'Label does not exist')
  remove(issue.labels, label)
  return { status: 200, body: issue.labels.map((name) => ({ name })) }
}

function addAll(list: string[], added: unknown, status: number): Answer {
  for (const name of added as string[]) if (!list.includes(name)) list.push(name)
  return { status, body: list.map((name) => ({ name })) }
}

function remove(list: string[], name: string): void {
  const index = list.indexOf(name)
  if (index >= 0) list.splice(index, 1)
}

function bodyProblem(text: unknown): Answer | undefined {
  if (typeof text !== 'string' || text.trim() === '') return refusal(422, 'Validation Failed')
  return text.length > bodyLengthMax
    ? refusal(422, `Body is too long (maximum is ${bodyLengthMax} characters)`)
    : undefined
}

function shown({ id, body, user, createdAt, updatedAt }: StoredComment): unknown {
  return { id, body, user: { login: user }, created_at: createdAt, updated_at: updatedAt }
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message, documentation_url: 'https://docs.github.com/rest' } }
}
