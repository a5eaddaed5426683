/**
 * Finds the imports of a TypeScript file, in all four forms: `import … from`, `export … from`, `import()`,
 * `import.meta.resolve()`. Only literal specifiers can be judged.
 *
 * No parser: in code without comments and without the contents of strings, these four can be found by their words.
 */
export interface Import {
  readonly specifier: string
  readonly line: number
  /** `value`: loads the other file before this one runs. `type`: erased. `deferred`: loaded when the code gets there. */
  readonly kind: 'value' | 'type' | 'deferred'
}

const beforeSpecifier =
  /(?<![.\w$])(?:from|import|import\s*\(|import\s*\.\s*meta\s*\.\s*resolve\s*\(|require\s*\()\s*(?=['"`])/g

export function importsOf(text: string): Import[] {
  const code = bareCode(text)
  return [...code.matchAll(beforeSpecifier)].map((match) => {
    const open = match.index + match[0].length
    const close = code.indexOf(code[open]!, open + 1)
    const line = code.slice(0, open).split('\n').length
    return { specifier: text.slice(open + 1, close), line, kind: kindOf(match[0], code.slice(0, match.index)) }
  })
}

function kindOf(keyword: string, before: string): Import['kind'] {
  if (keyword.includes('(')) return 'deferred'
  if (!keyword.startsWith('from')) return 'value'
  const clause = before.slice(Math.max(before.lastIndexOf('import '), before.lastIndexOf('export ')) + 'import '.length)
  if (/^type\s+(?!,)/.test(clause)) return 'type'
  const names = /^\{([^}]*)\}\s*$/
    .exec(clause)?.[1]
    ?.split(',')
    .map((name) => name.trim())
  return names?.every((name) => name === '' || name.startsWith('type ')) === true ? 'type' : 'value'
}

/** Comments, and what is inside of strings, templates and regular expressions, become spaces. */
export function bareCode(text: string): string {
  let bare = ''
  /** For each template whose `${` we are in: how many braces are open. */
  const templates: number[] = []
  while (bare.length < text.length) {
    const at = bare.length
    const here = text[at]!
    const inTemplate = templates.length - 1
    const found =
      tokenAt(text, at, comment) ??
      tokenAt(text, at, string) ??
      (here === '`' || (here === '}' && templates[inTemplate] === 0) ? tokenAt(text, at, templatePart) : undefined) ??
      (here === '/' && startsRegExp(bare) ? tokenAt(text, at, regExp) : undefined)
    bare += found === undefined ? here : hollow(found)
    if (found === undefined && here === '{' && inTemplate >= 0) templates[inTemplate]!++
    if (found === undefined && here === '}' && inTemplate >= 0) templates[inTemplate]!--
    if (found?.startsWith('}') === true) templates.pop()
    if (found?.endsWith('${') === true) templates.push(0)
  }
  return bare
}

const comment = /^\/\/[^\n]*|^\/\*[^]*?(?:\*\/|$)/
const string = /^'(?:\\[^]|[^'\\\n])*'|^"(?:\\[^]|[^"\\\n])*"/
const templatePart = /^[`}](?:\\[^]|[^`\\$]|\$(?!\{))*(?:`|\$\{)/
const regExp = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//

function tokenAt(text: string, at: number, token: RegExp): string | undefined {
  return startsLike[text[at]!] === true ? token.exec(text.slice(at))?.[0] : undefined
}
const startsLike: Partial<Record<string, true>> = { '/': true, "'": true, '"': true, '`': true, '}': true }

/** A slash divides after a value, and begins a regular expression anywhere else. */
function startsRegExp(before: string): boolean {
  const code = before.slice(-200).trimEnd()
  return code === '' || /[(,=:[!&|?{};+*%<>~^]$|\b(return|typeof|case|in|of|await|yield|throw|void)$/.test(code)
}

/** Delimiters stay, so that one can see that something was there. */
function hollow(token: string): string {
  return comment.test(token) ? blank(token) : token[0]! + blank(token.slice(1, -1)) + token.at(-1)!
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}
