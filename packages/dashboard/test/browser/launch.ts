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
const ofSystem = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export async function launchBrowser(): Promise<Browser> {
  const found = ofSystem.find((path) => existsSync(path))
  if (found !== undefined) return chromium.launch({ executablePath: found, args })
  // Not its arguments: they are for machines that allow one process, and switch off what the tests are about.
  const { default: packed } = await import('@sparticuz/chromium')
  return chromium.launch({ executablePath: await packed.executablePath(), args })
}
