/** q serve: serves the page and the HTTP API without a replica. */
import type { Command } from 'commander'
import { exitCodes } from '@q/runner/report-error'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { untilStopped } from '../frame/until-stopped.ts'
import { programVersion } from '../frame/version.ts'
import { openInBrowser } from '../page/browser.ts'
import { wholeNumber } from '../typed/numbers.ts'

interface Options extends CommonOptions {
  readonly port?: string
  readonly readOnly?: true
  readonly open?: true
}

export function serveCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'serve',
    summary: 'serve the page and the HTTP API until Ctrl-C, without a replica',
    examples: [
      ['q serve --open', 'on the first free port from 7780 of this machine, and opens it'],
      ['q serve --read-only --port 8080', 'a page on which nothing can be changed'],
    ],
    json: '{ url, port, readOnly, database }, once it listens; never the token',
  })
    .option('--port <n>', 'this port, instead of Q_HTTP_PORT or the first free one from 7780')
    .option('--read-only', 'accept no actions')
    .option('--open', 'open the page in a browser')
    .action(async (options: Options) => {
      const port = options.port === undefined ? undefined : wholeNumber('--port', options.port, 0, 65_535)
      await operate(terminal, options, async (context) => {
        const { prepareServer } = await import('@q/server')
        const server = await prepareServer(environment(terminal.env, { ...options, port }))({
          databaseUrl: context.url,
          version: programVersion(),
          onFault: (error, what) => terminal.tell(`${what}: ${String(error)}`),
        })
        try {
          const document = {
            url: server.url,
            port: server.port,
            readOnly: options.readOnly === true,
            database: context.description,
          }
          context.answer(document, ({ columns }) => linkText(columns > 0 ? server.link : server.url))
          if (options.open === true) await openInBrowser(terminal, server.link)
          await untilStopped()
        } finally {
          await server.close()
        }
        return exitCodes.ok
      })
    })
}

/** Options override the environment. */
function environment(
  env: NodeJS.ProcessEnv,
  { port, readOnly }: { readonly port: number | undefined; readonly readOnly?: true },
): NodeJS.ProcessEnv {
  return {
    ...env,
    ...(port === undefined ? {} : { Q_HTTP_PORT: String(port) }),
    ...(readOnly === true ? { Q_HTTP_READ_ONLY: '1' } : {}),
  }
}

/** The token is for a terminal, never for the log of a supervisor. */
function linkText(link: string): string {
  return link.includes('#')
    ? `The page: ${link}\nCtrl-C stops it.`
    : `The page: ${link}\nIt asks for a token: q token prints it, q open opens the page with it.`
}
