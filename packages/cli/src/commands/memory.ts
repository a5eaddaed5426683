/** q memory: reads and writes the file of an MCP memory server. Needs no database. */
import { Command } from 'commander'
import type { Entity } from '@q/destinations/memory'
import { type CommandTexts, newCommand } from '../frame/command.ts'
import { listEnd } from '../frame/list-end.ts'
import { type MemoryCommandOptions, withMemory } from '../frame/memory.ts'
import type { Look, Terminal } from '../frame/terminal.ts'
import { memoryKeyNotFound } from '../typed/not-found.ts'
import { countText } from '../words/counts.ts'
import { table } from '../words/table.ts'

const help = `
The memory server itself has no commands that store, retrieve or list keys: it speaks MCP on its standard input. So q starts
it on the file and asks it.

Examples:
  q memory ls 'task-sentinel/*' --file /var/lib/q/memory.jsonl   everything that a destination wrote
  q memory get task-sentinel/workers/eu-1/heartbeat              the latest heartbeat; the file is Q_MEMORY_FILE`

export function memoryCommand(terminal: Terminal): Command {
  return new Command('memory')
    .description('read and write the file of an MCP memory server')
    .addHelpText('after', help)
    .addCommand(getCommand(terminal))
    .addCommand(lsCommand(terminal))
    .addCommand(putCommand(terminal))
    .addCommand(testCommand(terminal))
}

function getCommand(terminal: Terminal): Command {
  return newMemoryCommand({
    name: 'get',
    summary: 'print the value of a key; of several values the newest',
    examples: [
      ['q memory get task-sentinel/workers/eu-1/heartbeat', 'the latest heartbeat of a worker'],
      ['q memory get task-sentinel/workers/eu-1/heartbeat-failures --all', 'a line for each, oldest first'],
    ],
    json: '{ key, type, value, values }, with the values as texts, oldest first',
  })
    .argument('<key>', 'the key, whole')
    .option('--all', 'print all values, oldest first')
    .action((key: string, options: MemoryCommandOptions & { readonly all?: true }) =>
      withMemory(terminal, options, async (memory) => {
        const entity = await memory.get(key)
        if (entity === undefined) throw memoryKeyNotFound(key)
        const values = entity.observations
        const value = values.at(-1) ?? null
        const text = () => (options.all === true ? values.join('\n') : (value ?? ''))
        return { document: { key, type: entity.entityType, value, values }, text }
      }),
    )
}

function lsCommand(terminal: Terminal): Command {
  return newMemoryCommand({
    name: 'ls',
    summary: 'list keys, by name',
    examples: [
      ["q memory ls 'task-sentinel/workers/*/heartbeat'", 'all workers; * stands for any characters'],
      ["q memory ls 'task-sentinel/metrics/lock-recoveries/*'", 'recovered runs, by the time of their recovery'],
    ],
    json: '{ items: [{ key, type, values }] }, with the number of values',
  })
    .argument('[pattern]', 'keys to list', '*')
    .action((pattern: string, options: MemoryCommandOptions) =>
      withMemory(terminal, options, async (memory) => {
        const entities = await memory.list(pattern)
        const items = entities.map(({ name: key, entityType: type, observations: { length: values } }) => ({
          key,
          type,
          values,
        }))
        if (options.json !== true && items.length > 0)
          terminal.tell(listEnd({ shown: items.length, noun: 'key', order: 'by name' }))
        return { document: { items }, text: (look) => keysTable(look, entities) }
      }),
    )
}

function putCommand(terminal: Terminal): Command {
  return newMemoryCommand({
    name: 'put',
    summary: 'set the value of a key',
    examples: [
      [`q memory put test-heartbeat '{"test":true}'`, 'replaces the value that the key had'],
      [`q memory put notes/eu-1 'disk replaced' --json`, 'answers as data'],
    ],
    json: '{ key, value, answer: created | replaced | unchanged }',
  })
    .argument('<key>', 'the key')
    .argument('<value>', 'any text')
    .action((key: string, value: string, options: MemoryCommandOptions) =>
      withMemory(terminal, options, async (memory) => {
        const answer = await memory.put(key, value)
        return { document: { key, value, answer }, text: () => `The value of ${key} is ${answer}.` }
      }),
    )
}

function testCommand(terminal: Terminal): Command {
  return newMemoryCommand({
    name: 'test',
    summary: 'write, read and remove a value, to find out whether file and server work',
    examples: [
      ['q memory test', 'with the file in Q_MEMORY_FILE'],
      ['q memory test --command "node /opt/memory/server.js"', 'with another server'],
    ],
    json: '{ file, answer: works }',
  }).action((options: MemoryCommandOptions) =>
    withMemory(terminal, options, async (memory, file) => {
      await memory.test('q-memory-test')
      return { document: { file, answer: 'works' }, text: () => `The memory server works on ${file}.` }
    }),
  )
}

function newMemoryCommand(texts: CommandTexts): Command {
  return newCommand(texts)
    .option('--file <path>', 'the file of the memory server; default: Q_MEMORY_FILE')
    .option('--command <line>', 'the program that serves it, with its arguments; default: the installed server')
}

function keysTable(look: Look, entities: readonly Entity[]): string {
  if (entities.length === 0) return 'There is no such key.'
  return table<Entity>(
    look,
    [
      { heading: 'KEY', cell: ({ name }) => name, shrink: 20 },
      { heading: 'TYPE', cell: ({ entityType }) => entityType, drop: 2 },
      { heading: 'VALUES', cell: ({ observations }) => countText(observations.length), align: 'right', drop: 1 },
    ],
    entities,
  )
}
