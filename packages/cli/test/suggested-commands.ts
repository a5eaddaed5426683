/**
 * The q commands that texts suggest. Parses source files and reads their string literals, so a suggestion counts even if
 * no test prints it. A hole of a template literal is one argument if it is an id or quoted for a shell; otherwise it is
 * two words, as a name with a space would be, unless `holes` lists its texts.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vitest/node'

export interface Suggestion {
  /** The file, and the command line as it is written. */
  readonly place: string
  readonly words: readonly string[]
}

const packages = `${join(import.meta.dirname, '../..')}/`

/** Their texts are for developers of q. */
const silent = /^(bench|chaos|examples|testing)\/|\/generated\//

/** The texts of other holes, by their source. */
const holes: Readonly<Record<string, readonly string[]>> = {
  // The command lines of actions on runs.
  path: ['retry', 'cancel'],
  command: ['retry', 'cancel', 'review accept'],
  main: ['retry', 'cancel'],
  asking: ['retry', 'cancel', 'review accept'],
  given: [' --task 1'],
  'cliOptions(filter)': ['--task 1'],
  states: [' --status failed'],
  'options(main)': ['--task 1'],
  'options(asking)': ['--task 1'],
  "ids(main).join(' ')": ['1 2'],
  "ids(asking).join(' ')": ['1 2'],
  kind: ['resume', 'pause', 'cancel', 'retry-failed'],
  onDeadline: ['release', 'fail', 'by-task'],
  needed: ['read', 'enqueue', 'work', 'admin'],
  deadline: ['', ' --deadline 2m'],
  chosen: ['1d'],
  ofLevel: [' --level warn'],
  // No commands: the title of the log, and names of connections.
  'facts.version': [],
  purpose: [],
}

const isOneWord =
  /^(shellWord|argument)\(|^quoted|(^|\.)id$|(runId|workflowId)$|^(next|pageLines|workflow|short)$|\.slice\(0, 8\)$/i

/** Sentences with q as their subject, or as the name of the schema or of connections. */
const aboutQ =
  /^(a|decides|embedded|has|is|judges|keeps|leaves|near|needs|reaches|reads|rejects|rely|run|shows|starts|that|uses|was|writes|yet)\b/

/** A word after which a sentence continues without the command. */
const continues =
  /^(adds|again|against|has|in|lists|names|opens|or|prints|recovers|sends|shows|takes|tells|that|waits|would|with)$/

export function suggestionsOfSources(): Suggestion[] {
  const files = globSync('*/src/**/*.{ts,tsx}', { cwd: packages }).filter((file) => !silent.test(file))
  return files
    .toSorted()
    .flatMap((file) =>
      textsOf(readFileSync(`${packages}${file}`, 'utf8'), file).flatMap((text) =>
        commandsIn(text).map((words) => ({ place: `${file}: q ${words.join(' ')}`, words })),
      ),
    )
}

/** The command lines in a text, without the name of the program. */
export function commandsIn(text: string): string[][] {
  return [...text.matchAll(/(?<=^|[\s(`'"])q (?=[a-z<])/gm)]
    .map(({ index }) => wordsOf(text.slice(index + 2).split(')')[0] ?? ''))
    .filter(([first = '']) => !aboutQ.test(first))
}

/** The words up to the end of the command: a pipe, a mark of punctuation, two spaces or a word of the sentence. */
function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const [, space = '', word = ''] of text.matchAll(/(\s*)((?:'[^']*'|"[^"]*"|<[^>\s][^>]*>|\\.|[^\s'"\\])+|$)/g)) {
    const bare = word.replace(/[.,;:)`]+$/, '')
    if (/\n| {2}/.test(space) || /^([|>&]|<$)/.test(word) || (words.length > 0 && continues.test(bare))) break
    if (bare !== '') words.push(bare.replaceAll(/['"]/g, ''))
    if (bare !== word) break
  }
  return words
}

interface Syntax {
  readonly type?: string
  readonly start?: number
  readonly end?: number
  readonly [member: string]: unknown
}

/** Every text in a file, with all alternatives of its holes. */
function textsOf(source: string, file: string): string[] {
  const texts: string[] = []
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Syntax, (node) => {
    if (node.type === 'Literal' && typeof node['value'] === 'string') texts.push(node['value'])
    if (node.type === 'JSXText') texts.push(String(node['value']))
    if (node.type === 'TemplateLiteral') texts.push(...templateTexts(node, source))
  })
  return texts
}

function templateTexts(node: Syntax, source: string): string[] {
  const quasis = (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked)
  const expressions = node['expressions'] as Syntax[]
  return quasis.slice(1).reduce(
    (texts, quasi, index) => {
      const alternatives = holeTexts(expressions[index] as Syntax, source)
      return texts.flatMap((text) => alternatives.map((hole) => `${text}${hole}${quasi}`))
    },
    [quasis[0] ?? ''],
  )
}

function holeTexts(node: Syntax, source: string): readonly string[] {
  if (node.type === 'Literal') return [String(node['value'])]
  if (node.type === 'TemplateLiteral') return templateTexts(node, source)
  if (node.type === 'ConditionalExpression')
    return [...holeTexts(node['consequent'] as Syntax, source), ...holeTexts(node['alternate'] as Syntax, source)]
  const expression = source.slice(node.start, node.end)
  return holes[expression] ?? [isOneWord.test(expression) ? '1' : 'two words']
}

function visit(node: Syntax, look: (node: Syntax) => void): void {
  look(node)
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child as Syntax, look)
}
