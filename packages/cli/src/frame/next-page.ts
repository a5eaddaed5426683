/**
 * The command that continues a list: the same command with every option that was given, so that it lists the same items
 * in pages of the same size. Reads the options from the command itself, so that no option can be forgotten.
 */
import type { Command } from 'commander'
import { shellWord } from '@q/server/client'
import type { CommandContext } from './command.ts'
import { listEnd, type ListEnd } from './list-end.ts'

export interface PageEnd extends Omit<ListEnd, 'next' | 'of'> {
  /** The cursor of the next page; undefined: the list is complete. */
  readonly next: string | undefined
  /** The option that takes the cursor. Default: `--cursor`. */
  readonly option?: string
}

/** Tells a person how a list ends. A page without items can have a next one: it did not look at all of them. */
export function tellPageEnd(
  { terminal, json }: CommandContext,
  command: Command,
  { next, option = '--cursor', ...end }: PageEnd,
): void {
  if (json || (end.shown === 0 && next === undefined)) return
  terminal.tell(listEnd({ ...end, next: next === undefined ? undefined : nextPage(command, option, next) }))
}

export function nextPage(command: Command, option: string, cursor: string): string {
  const given = command.options
    .filter(({ long }) => long !== option)
    .flatMap((each) => {
      const name = each.attributeName()
      if (command.getOptionValueSource(name) !== 'cli') return []
      const value: unknown = command.getOptionValue(name)
      return value === true ? [`${each.long}`] : [`${each.long} ${shellWord(String(value))}`]
    })
  const args = command.args.map(shellWord)
  return [pathOf(command), ...args, ...given, `${option} ${shellWord(cursor)}`].join(' ')
}

/** `q queues pause` */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
