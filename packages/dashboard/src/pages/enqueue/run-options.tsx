/** How a run is enqueued beside its payload: as typed, with what is wrong with it. */
import type { ReactNode } from 'react'
import { shellWord } from '@q/server/client'
import { FieldFrame } from './field-input.tsx'

/** As typed. */
export interface Options {
  readonly group: string
  readonly priority: string
  readonly delay: string
}

export type OptionName = keyof Options

export const noOptions: Options = { group: '', priority: '', delay: '' }

const labels = {
  group: ['Group', 'such as a tenant'],
  priority: ['Priority', 'lower goes first'],
  delay: ['Delay', 'seconds'],
} as const satisfies Record<OptionName, readonly [label: string, hint: string]>

const [priorityMax, delayMaxS] = [32_767, 31_536_000]

/** Pure. */
export function problemsOf({ priority, delay }: Options): Partial<Record<OptionName, string>> {
  const isPriority = priority === '' || (/^-?\d{1,5}$/.test(priority) && Math.abs(Number(priority)) <= priorityMax)
  const isDelay = delay === '' || (/^\d{1,8}(?:\.\d{1,3})?$/.test(delay) && Number(delay) <= delayMaxS)
  return {
    ...(isPriority ? {} : { priority: `It is not a whole number from -${priorityMax} to ${priorityMax}.` }),
    ...(isDelay ? {} : { delay: 'It is not a number of seconds, up to a year.' }),
  }
}

/** As the API reads them. Pure. */
export function bodyOf({ group, priority, delay }: Options): object {
  return {
    ...(group === '' ? {} : { group }),
    ...(priority === '' ? {} : { priority: Number(priority) }),
    ...(delay === '' ? {} : { delayMs: delayMsOf(delay) }),
  }
}

/** The member of the API, by which a problem names an option. */
export const nameInApi: Readonly<Record<string, OptionName>> = {
  group: 'group',
  priority: 'priority',
  delayMs: 'delay',
}

/** The command that enqueues the same run. Pure. */
export function enqueueCommandLine(task: string, payload: string, { group, priority, delay }: Options): string {
  const options = [
    ...(group === '' ? [] : ['--group', shellWord(group)]),
    ...(priority === '' ? [] : ['--priority', shellWord(priority)]),
    ...(delay === '' ? [] : ['--delay', Number.isNaN(Number(delay)) ? shellWord(delay) : `${delayMsOf(delay)}ms`]),
  ]
  return [`q enqueue ${shellWord(task)}`, shellWord(payload.replaceAll(/\s*\n\s*/g, ' ')), ...options].join(' ')
}

function delayMsOf(delay: string): number {
  return Math.round(Number(delay) * 1_000)
}

interface Props {
  readonly options: Options
  readonly problems: Partial<Record<OptionName, string>>
  readonly onChange: (options: Options) => void
}

export function RunOptionFields({ options, problems, onChange }: Props): ReactNode {
  return (
    <div className="two-fields">
      {(Object.keys(labels) as OptionName[]).map((name) => {
        const [label, hint] = labels[name]
        return (
          <FieldFrame key={name} label={label} beside={hint} hint="" problem={problems[name]}>
            {(shared) => (
              <input
                {...shared}
                value={options[name]}
                onChange={(event) => onChange({ ...options, [name]: event.target.value.trim() })}
              />
            )}
          </FieldFrame>
        )
      })}
    </div>
  )
}
