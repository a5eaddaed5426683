/** q open: opens the page of a live replica, with the token. */
import type { Command } from 'commander'
import { newCommand, operate, type CommonOptions } from '../frame/command.ts'
import type { Terminal } from '../frame/terminal.ts'
import { openInBrowser } from '../page/browser.ts'
import { findPage } from '../page/find-page.ts'
import { parseRunId } from '../typed/ids.ts'

interface Options extends CommonOptions {
  readonly print?: true
}

export function openCommand(terminal: Terminal): Command {
  return newCommand({
    name: 'open',
    summary: 'open the page in a browser',
    examples: [
      ['q open', 'the page of a live replica; the link contains the token'],
      ['q open 9123', 'the page of a run'],
      ['q open --print', 'only prints the link, for another machine or browser'],
    ],
    json: '{ node, url, link, opened }',
  })
    .argument('[run]', 'id of a run')
    .option('--print', 'print the link and open nothing')
    .action(async (text: string | undefined, options: Options) => {
      await operate(terminal, options, async ({ store, answer, json }) => {
        const path = text === undefined ? '/' : `/runs/${parseRunId(text)}`
        const { node, url, token } = await findPage(await store.liveReplicas(), terminal.env)
        const link = token === undefined ? `${url}${path}` : `${url}${path}#token=${token}`
        if (!json) terminal.print(link)
        const isWanted = options.print !== true && (json || terminal.columns > 0)
        const opened = isWanted && (await openInBrowser(terminal, link))
        if (json) answer({ node, url, link, opened }, () => '')
        if (token === undefined && !json)
          terminal.tell(`The page of ${node} asks for a token: q token prints it, on the machine of ${node}.`)
      })
    })
}
