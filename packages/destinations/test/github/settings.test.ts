import { expect, test } from 'vitest'
import { destinationKinds } from '../../src/index.ts'
import { findIssue } from '../../src/github/issue.ts'

const problemsOf = destinationKinds['github']?.problemsOf

test('complete settings have no problems', () => {
  const least = { issue: '/issue', repositories: ['acme/shop'], tokenVariable: 'GITHUB_TOKEN' }
  expect(problemsOf?.(least)).toEqual([])
  expect(
    problemsOf?.({
      ...least,
      apiUrl: 'https://github.example.com/api/v3',
      labels: false,
      assignee: 'q-bot',
      heartbeatIssue: 7,
      workerSecretFile: '/run/secrets/workers',
    }),
  ).toEqual([])
  expect(problemsOf?.({ ...least, apiUrl: 'http://127.0.0.1:8080' })).toEqual([])
})

test('every mistake in the settings is reported, and a token in them without its value', () => {
  const problems = problemsOf?.({
    repositories: ['shop'],
    token: 'ghp_canary',
    tokenVariable: 'A',
    tokenFile: 'token.txt',
    apiUrl: 'http://github.example.com',
    labels: 'yes',
    assignee: '@me',
    issue: 12,
    heartbeatIssue: 0,
    workerSecretVariable: 'not a name',
    colour: 'blue',
  })
  expect(problems).toEqual([
    '"repositories" must be a list of repositories, such as ["acme/shop"].',
    '"token" must not be here: "tokenVariable" names an environment variable with it, "tokenFile" a file.',
    '"tokenFile" must be an absolute path.',
    '"apiUrl" must be an https address, such as "https://github.example.com/api/v3".',
    '"labels" must be true or false.',
    '"assignee" must be the name of a GitHub user.',
    '"issue" must be a JSON pointer into the payload, such as "/issue".',
    '"heartbeatIssue" must be the number of an issue of the first repository.',
    '"workerSecretVariable" must be the name of an environment variable.',
    expect.stringMatching(/^"colour" is not a setting of a GitHub destination; it has issue, repositories, /),
    'Set "tokenVariable" or "tokenFile", not both.',
  ])
  expect(problemsOf?.({})).toEqual([
    '"issue" is missing.',
    '"repositories" is missing.',
    '"tokenVariable" or "tokenFile" is missing.',
  ])
})

test('an issue is found by its number or address, in allowed repositories only', () => {
  const known = { repositories: ['Acme/Shop', 'acme/tools'], apiUrl: 'https://api.github.com' }
  const shop = { issue: { owner: 'Acme', repo: 'Shop', number: 12 } }
  expect(findIssue('12', known)).toEqual(shop)
  expect(findIssue(' #12 ', known)).toEqual(shop)
  expect(findIssue('https://github.com/acme/shop/issues/12', known)).toEqual(shop)
  expect(findIssue('https://github.com/ACME/tools/issues/3#issuecomment-1', known)).toEqual({
    issue: { owner: 'acme', repo: 'tools', number: 3 },
  })
  const enterprise = { repositories: ['acme/shop'], apiUrl: 'https://github.example.com/api/v3' }
  expect(findIssue('https://github.example.com/acme/shop/issues/4', enterprise)).toMatchObject({ issue: { number: 4 } })
  for (const text of [
    '0',
    '-1',
    'twelve',
    '',
    'https://github.com/acme/shop-2/issues/12',
    'https://github.com/acme/shop/pull/12',
    'https://evil.example/acme/shop/issues/12',
    'acme/../evil#12',
  ])
    expect({ text, ...findIssue(text, known) }).toHaveProperty('refused')
})
