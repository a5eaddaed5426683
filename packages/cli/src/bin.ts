#!/usr/bin/env node
/** The `q` command, as a process. */
import { loadModules } from '@q/runner/load-modules'

const [{ run }, { processTerminal }, { exitCodes }] = await loadModules(() =>
  Promise.all([import('./run.ts'), import('./frame/terminal.ts'), import('@q/runner/report-error')]),
)

// The reader may stop reading: `q --help | head -1`. A replica continues without the reader of its log.
const leave = (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.runFailed)
if (process.argv[2] !== 'start') process.stdout.on('error', leave)

// A refused connection may linger; everything has been printed.
const args = process.argv.slice(2)
process.exit(await run(args, processTerminal({ json: args.includes('--json') })))
