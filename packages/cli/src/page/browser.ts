/**
 * Opens a link with a token in the person's browser. The token is never an argument of a program, because every user of
 * the machine could read it: the browser opens a file that only its owner can read, and the file redirects to the link.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tokenPlace } from '@q/server/secrets'
import type { Terminal } from '../frame/terminal.ts'

/** Whether a browser was started. */
export async function openInBrowser(terminal: Terminal, link: string): Promise<boolean> {
  const program = openerOf(terminal.env)
  if (program === undefined) return notOpened(terminal)
  const file = join(dirname(tokenPlace(terminal.env)), 'open.html')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `<meta http-equiv="refresh" content="0;url=${link}">\n`, { mode: 0o600 })
  const child = spawn(program, [pathToFileURL(file).href], { stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
    child.unref()
    return true
  } catch {
    return notOpened(terminal)
  }
}

function notOpened(terminal: Terminal): false {
  terminal.tell('No browser can be opened here: open the link yourself.')
  return false
}

/** Undefined: there is no screen. */
function openerOf(env: NodeJS.ProcessEnv): string | undefined {
  if (process.platform === 'darwin') return 'open'
  if (process.platform === 'win32') return 'explorer'
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['BROWSER'] ? 'xdg-open' : undefined
}
