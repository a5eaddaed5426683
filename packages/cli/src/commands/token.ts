/**
 * q token: prints the token of the page and the HTTP API, and creates, lists and revokes named tokens. Needs no
 * database.
 */
import { dirname, join, resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { ExplainedError } from '@q/schema'
import type * as ServerModule from '@q/server'
import type { TokenScope } from '@q/server'
import { tokenPlace } from '@q/server/secrets'
import { answerText } from '../frame/answer.ts'
import { newCommand, type CommonOptions } from '../frame/command.ts'
import { reportProblem } from '../frame/run-with-database.ts'
import type { Terminal } from '../frame/terminal.ts'
import { table } from '../words/table.ts'

export function tokenCommand(terminal: Terminal): Command {
  const command = newCommand({
    name: 'token',
    summary: 'print the token of the page and the HTTP API, or create named ones',
    examples: [
      ['curl -H "Authorization: Bearer $(q token)" http://127.0.0.1:7780/api/overview', 'asks the HTTP API'],
      ['q token --replace', 'replaces it; sessions and programs with the old token are refused'],
    ],
    json: '{ token, file }',
  })
    .option('--replace', 'replace the token')
    .action((options: CommonOptions & { readonly replace?: true }) =>
      withServer(terminal, options, ({ readOrMakeToken, replaceToken }) => {
        const file = tokenPlace(terminal.env)
        const token = options.replace === true ? replaceToken(file) : readOrMakeToken(file)
        return { document: { token, file }, text: token }
      }),
    )
  return command
    .addCommand(newTokenCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(revokeCommand(terminal))
}

interface NewOptions extends CommonOptions {
  readonly name: string
  readonly scope: TokenScope
}

function newTokenCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'new',
    summary: 'create a token with a name and a scope; it is printed once and not stored',
    examples: [
      ['q token new --name grafana', 'may read'],
      ['q token new --name deploy --scope admin', 'may drain, cancel, retry, pause'],
    ],
    json: '{ token, name, scope, file }',
  })
    .requiredOption('--name <name>', 'recorded with every action of the token')
    .addOption(
      new Option('--scope <scope>', 'enqueue includes read; work is for workers over HTTP; admin includes all')
        .choices(['read', 'enqueue', 'work', 'admin'])
        .default('read'),
    )
    .action(({ name, scope, ...options }: NewOptions) =>
      withServer(terminal, options, (server) => {
        const file = tokensFile(terminal.env)
        const token = server.addNamedToken(file, { name, scope })
        if (!terminal.env['Q_HTTP_TOKENS_FILE'])
          terminal.tell(`Servers accept it when they are started with Q_HTTP_TOKENS_FILE=${file}`)
        return { document: { token, name, scope, file }, text: token }
      }),
    )
}

function listCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'list',
    summary: 'list the named tokens',
    examples: [
      ['q token list', 'names and scopes'],
      ['q token list --json', 'as data'],
    ],
    json: '{ tokens: [{ name, scope }], file }',
  }).action((options: CommonOptions) =>
    withServer(terminal, options, (server) => {
      const file = tokensFile(terminal.env)
      const tokens = server.namedTokens(file)
      const text = table(
        options.wide === true ? { ...terminal, columns: 0 } : terminal,
        [
          { heading: 'NAME', cell: ({ name }) => name, shrink: 10 },
          { heading: 'SCOPE', cell: ({ scope }) => scope },
        ],
        tokens,
      )
      return { document: { tokens, file }, text: tokens.length === 0 ? `${file} has no token.` : text }
    }),
  )
}

function revokeCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'revoke',
    summary: 'remove a named token: servers refuse it within a second',
    examples: [
      ['q token revoke grafana', 'removes its line from the file'],
      ['q token revoke grafana --json', 'answers as data'],
    ],
    json: '{ name, file }',
  })
    .argument('<name>', 'name of the token')
    .action((name: string, options: CommonOptions) =>
      withServer(terminal, options, (server) => {
        const file = tokensFile(terminal.env)
        if (!server.removeNamedToken(file, name)) throw tokenNotFound(name, file)
        return { document: { name, file }, text: `${name} is revoked.` }
      }),
    )
}

async function withServer(
  terminal: Terminal,
  { json, fields }: CommonOptions,
  work: (server: typeof ServerModule) => { readonly document: object; readonly text: string },
): Promise<void> {
  try {
    const { document, text } = work(await import('@q/server'))
    terminal.printData(json === true ? answerText(document, fields) : text)
    terminal.exitCode = exitCodes.ok
  } catch (error) {
    reportProblem(terminal, error, { ...(json && { json }) })
  }
}

/** The configured file, else `tokens` beside the token. */
function tokensFile(env: NodeJS.ProcessEnv): string {
  const configured = env['Q_HTTP_TOKENS_FILE']
  return configured ? resolve(env['INIT_CWD'] ?? '.', configured) : join(dirname(tokenPlace(env)), 'tokens')
}

function tokenNotFound(name: string, file: string): ExplainedError {
  return new ExplainedError({
    code: 'TOKEN_NOT_FOUND',
    what: `There is no token "${name}".`,
    why: `${file} has no line for it.`,
    fix: 'q token list shows all of them.',
  })
}
