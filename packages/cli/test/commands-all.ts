/** Every command that ends by itself, with arguments that it accepts. */
import type { Command } from 'commander'
import { createProgram } from '../src/program.ts'
import type { Terminal } from '../src/frame/terminal.ts'

/** Arguments and options without which a command is a usage error, by its path. */
const needed: Readonly<Record<string, readonly string[]>> = {
  enqueue: ['hello'],
  top: ['--count', '1'],
  show: ['1'],
  why: ['1'],
  logs: ['1'],
  cancel: ['1'],
  retry: ['1'],
  again: ['1'],
  node: ['x'],
  drain: ['x'],
  undrain: ['x'],
  'errors mute': ['abc'],
  'errors unmute': ['abc'],
  'review accept': ['1'],
  'review retry': ['1'],
  'queues pause': ['x'],
  'queues resume': ['x'],
  'schedules run': ['x'],
  'schedules pause': ['x'],
  'schedules resume': ['x'],
  'schedules delete': ['x'],
  'workflows show': ['1'],
  'workflows pause': ['1'],
  'workflows resume': ['1'],
  'workflows cancel': ['1'],
  'workflows retry-failed': ['1'],
  'operations stop': ['1'],
  'destinations add': ['x.json'],
  'destinations test': ['x'],
  'destinations pause': ['x'],
  'destinations resume': ['x'],
  'destinations redeliver': ['x'],
  'destinations rm': ['x'],
  'deliveries redeliver': ['1'],
}

/** They need no database, run until a signal, or only print where the database is. */
const others = /^(start|completion|db|db url|token.*|memory.*)$/

/** As command lines. */
export function operatingCommands(): string[][] {
  return pathsOf(createProgram({} as Terminal))
    .filter((path) => !others.test(path))
    .map((path) => [...path.split(' '), ...(needed[path] ?? [])])
}

/** Every command that has a help text of its own: `queues pause`. */
export function allPaths(): string[] {
  return pathsOf(createProgram({} as Terminal)).filter((path) => path !== 'db')
}

/** Of every command that can be run: `queues`, `queues pause`, … */
function pathsOf(command: Command, before = ''): string[] {
  return command.commands.flatMap((nested) => {
    const path = `${before}${nested.name()}`
    return [path, ...pathsOf(nested, `${path} `)]
  })
}
