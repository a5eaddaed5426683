/** The first output on a terminal: what is running, where, and which command to try next. */
import { styleText } from 'node:util'

export interface BannerFacts {
  readonly version: string
  readonly database: string
  readonly replicaId: string
  readonly name: string
  readonly threads: number
  readonly preset: string
  readonly logLevel: string
  readonly pid: number
  readonly tasks: readonly string[]
  readonly next: string
  /** The page, with its token. */
  readonly link?: string
}

export function banner(facts: BannerFacts): string {
  const rows: [string, string][] = [
    ['database', facts.database],
    ['replica', `${facts.replicaId}, named ${facts.name}`],
    ['threads', String(facts.threads)],
    ['tasks', facts.tasks.join(', ')],
    ['preset', facts.preset],
    ['log level', facts.logLevel],
    ['pid', String(facts.pid)],
    ['to stop', 'Ctrl-C lets runs finish; again stops them now'],
    ['try next', styleText('bold', facts.next)],
    ...(facts.link === undefined ? [] : [['page', styleText('bold', facts.link)] as [string, string]]),
  ]
  return [
    '',
    styleText('bold', `q ${facts.version}`),
    ...rows.map(([label, text]) => `  ${styleText('dim', label.padEnd(10))} ${text}`),
    '',
  ].join('\n')
}
