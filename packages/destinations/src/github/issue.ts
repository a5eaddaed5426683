/**
 * Finds the issue that a run belongs to. Only issues of allowed repositories are found, whatever a payload contains.
 */

export interface Repository {
  readonly owner: string
  readonly repo: string
}

export interface Issue extends Repository {
  readonly number: number
}

export type FoundIssue = { readonly issue: Issue } | { readonly refused: string }

export interface KnownRepositories {
  /** Names like `owner/name`. An issue given as a plain number is in the first of them. */
  readonly repositories: readonly string[]
  readonly apiUrl: string
}

/** Returns the issue for `12`, `#12` or an issue's URL. */
export function findIssue(text: string, { repositories, apiUrl }: KnownRepositories): FoundIssue {
  const [, digits] = /^#?(\d{1,10})$/.exec(text.trim()) ?? []
  const address = digits === undefined ? issueAddress(text.trim(), apiUrl) : undefined
  const name = digits === undefined ? address?.name : repositories[0]
  const number = Number(digits ?? address?.digits)
  if (name === undefined || !(number > 0))
    return { refused: 'The value of the run’s issue is neither a number nor the address of an issue on this GitHub.' }
  const allowed = repositories.find((repository) => repository.toLowerCase() === name.toLowerCase())
  if (allowed === undefined)
    return { refused: `The repository of the run’s issue is not one of the destination’s: ${repositories.join(', ')}.` }
  return { issue: { ...repositoryOf(allowed), number } }
}

export function repositoryOf(name: string): Repository {
  const [owner = '', repo = ''] = name.split('/')
  return { owner, repo }
}

export function repositoryName({ owner, repo }: Repository): string {
  return `${owner}/${repo}`
}

export function issueName(issue: Issue): string {
  return `${repositoryName(issue)}#${issue.number}`
}

function issueAddress(text: string, apiUrl: string): { name: string; digits: string } | undefined {
  const url = URL.parse(text)
  if (url?.host !== webHostOf(apiUrl)) return undefined
  const [, name, digits] = /^\/([^/]+\/[^/]+)\/issues\/(\d{1,10})\/?$/.exec(url.pathname) ?? []
  return name === undefined || digits === undefined ? undefined : { name, digits }
}

/** The host of the pages of a GitHub: `github.com` for `api.github.com`, the same host for GitHub Enterprise Server. */
function webHostOf(apiUrl: string): string {
  return new URL(apiUrl).host.replace(/^api\./, '')
}
