/** Chromium: the one of the system where it is installed, else the one that a package carries. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const ofSystem = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** Whether there is a browser for this machine. If there is, one that does not start is a failure and no reason to skip. */
export const hasBrowser: boolean =
  ofSystem !== undefined || (process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch))

export async function launchBrowser(): Promise<Browser> {
  if (ofSystem !== undefined) return chromium.launch({ executablePath: ofSystem, args })
  // Not its arguments: they are for machines that allow one process, and switch off what the tests are about.
  const { default: packed } = await import('@sparticuz/chromium')
  return chromium.launch({ executablePath: await packed.executablePath(), args })
}
