/** Exported names that several files declare, so that one word would have several meanings. Re-exports do not count. */
import { matchesGlob } from 'node:path'
import { filesIn, type Find, type Location, type Where } from './finds.ts'
import type { SourceFile } from './source-tree.ts'

/** Files that name their exports after those of other files. */
interface Namesakes {
  readonly in: string
  readonly after: string
}

interface Declaration extends Location {
  readonly name: string
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/

export function declaredTwice(where: Where, namesakes: Namesakes): Find {
  return (tree) => {
    const declarations = filesIn(tree, where).flatMap(declarationsOf)
    return [...Map.groupBy(declarations, ({ name }) => name).values()]
      .map((named) => withoutNamesakes(named, namesakes))
      .filter((named) => new Set(named.map(({ path }) => path)).size > 1)
      .flat()
  }
}

function declarationsOf({ path, code }: SourceFile): Declaration[] {
  return code.split('\n').flatMap((text, index) => {
    const name = declaration.exec(text)?.[1]
    return name === undefined ? [] : [{ path, line: index + 1, name }]
  })
}

function withoutNamesakes(named: readonly Declaration[], namesakes: Namesakes): Declaration[] {
  const isNamedHere = named.some(({ path }) => matchesGlob(path, namesakes.after))
  return named.filter(({ path }) => !(isNamedHere && matchesGlob(path, namesakes.in)))
}
