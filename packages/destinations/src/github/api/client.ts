/** The GitHub client of a sender: one method per request. */
import { type Issue, issueName, type Repository, repositoryName } from '../issue.ts'
import { NotDelivered } from './not-delivered.ts'
import { type RequestPorts, requestSender, type SendRequest } from './request.ts'

export interface GithubClient {
  /** Why the destination cannot write comments to the repository. Undefined: nothing is known to prevent it. */
  repositoryProblem(repository: Repository): Promise<string | undefined>
  createComment(issue: Issue, body: string): Promise<number>
  editComment(issue: Issue, id: number, body: string): Promise<'edited' | 'gone'>
  /** The oldest comment that begins with the marker, among those changed since a given time. */
  findComment(issue: Issue, marker: string, since: Date): Promise<number | undefined>
  addLabel(issue: Issue, label: string): Promise<void>
  removeLabel(issue: Issue, label: string): Promise<void>
  assign(issue: Issue, user: string): Promise<void>
  unassign(issue: Issue, user: string): Promise<void>
}

export function githubClient(ports: RequestPorts): GithubClient {
  const send = requestSender(ports)
  return {
    ...commentRequests(send),
    ...labelRequests(send),
    ...assigneeRequests(send),
    async repositoryProblem(repository) {
      const name = repositoryName(repository)
      const answer = await send({ action: `read the repository ${name}`, repository, route: 'GET ' })
      const { archived, has_issues: hasIssues } = (answer?.data ?? {}) as { archived?: unknown; has_issues?: unknown }
      if (archived === true) return `The repository ${name} is archived: it accepts no comments.`
      if (hasIssues === false) return `The repository ${name} has no issues: enable them in its settings.`
      return undefined
    },
  }
}

function commentRequests(send: SendRequest): Pick<GithubClient, 'createComment' | 'editComment' | 'findComment'> {
  return {
    async createComment(issue, body) {
      const action = `write a comment on ${issueName(issue)}`
      const parameters = { number: issue.number, body }
      const answer = await send({ action, repository: issue, route: 'POST /issues/{number}/comments', parameters })
      const { id } = (answer?.data ?? {}) as { id?: unknown }
      if (typeof id === 'number') return id
      throw new NotDelivered({
        kind: 'failed',
        error: `Cannot ${action}: the answer has no id, so it is not from GitHub.`,
      })
    },
    async editComment(issue, id, body) {
      const answer = await send({
        action: `edit comment ${id} of ${issueName(issue)}`,
        repository: issue,
        route: 'PATCH /issues/comments/{id}',
        parameters: { id, body },
        nothingToDo: ({ status }) => status === 404 || status === 410,
      })
      return answer === undefined ? 'gone' : 'edited'
    },
    async findComment(issue, marker, since) {
      for (let page = 1; ; page++) {
        const answer = await send({
          action: `read the comments of ${issueName(issue)}`,
          repository: issue,
          route: 'GET /issues/{number}/comments',
          parameters: { number: issue.number, since: since.toISOString(), per_page: 100, page },
        })
        const comments = (answer?.data ?? []) as readonly { readonly id: number; readonly body?: string | null }[]
        const found = comments.find(({ body }) => body?.split(/\r?\n/, 1)[0] === marker)
        if (found !== undefined || answer?.link.includes('rel="next"') !== true) return found?.id
      }
    },
  }
}

function labelRequests(send: SendRequest): Pick<GithubClient, 'addLabel' | 'removeLabel'> {
  return {
    async addLabel(issue, label) {
      await send({
        action: `add the label ${label} to ${issueName(issue)}`,
        repository: issue,
        route: 'POST /issues/{number}/labels',
        parameters: { number: issue.number, labels: [label] },
        nothingToDo: ({ status }) => status === 409,
      })
    },
    async removeLabel(issue, label) {
      await send({
        action: `remove the label ${label} from ${issueName(issue)}`,
        repository: issue,
        route: 'DELETE /issues/{number}/labels/{label}',
        parameters: { number: issue.number, label },
        nothingToDo: ({ status, message }) => status === 404 && message.startsWith('Label does not exist'),
      })
    },
  }
}

function assigneeRequests(send: SendRequest): Pick<GithubClient, 'assign' | 'unassign'> {
  const change = async (action: string, method: 'POST' | 'DELETE', issue: Issue, user: string): Promise<void> => {
    const parameters = { number: issue.number, assignees: [user] }
    await send({ action, repository: issue, route: `${method} /issues/{number}/assignees`, parameters })
  }
  return {
    assign: (issue, user) => change(`assign ${user} to ${issueName(issue)}`, 'POST', issue, user),
    unassign: (issue, user) => change(`remove ${user} from ${issueName(issue)}`, 'DELETE', issue, user),
  }
}
