/**
 * Files that import each other in a cycle. Imports of types are erased, and an `import()` loads later, so neither counts.
 *
 * Tarjan's algorithm: one walk over the imports finds the groups of files that all reach each other.
 */
import { matchesGlob, posix } from 'node:path'
import type { Find, Location } from './finds.ts'
import type { SourceFile, SourceTree } from './source-tree.ts'

/** Each file of a cycle, at its first import of another one. */
export function cyclicImports(files: string): Find {
  return (tree) => {
    const graph = importGraph(tree, files)
    return cyclesIn(graph).flatMap((cycle) => cycle.flatMap((path) => locationIn(graph.get(path), cycle)))
  }
}

interface Edges {
  readonly file: SourceFile
  /** Path and line of each value import of a file of the graph. */
  readonly imports: readonly Location[]
}

type Graph = ReadonlyMap<string, Edges>

function importGraph(tree: SourceTree, files: string): Graph {
  const chosen = [...tree.files.values()].filter((file) => matchesGlob(file.path, files))
  const paths = new Set(chosen.map((file) => file.path))
  return new Map(
    chosen.map((file) => {
      const imports = file.imports
        .filter(({ specifier, kind }) => kind === 'value' && specifier.startsWith('.'))
        .map(({ specifier, line }) => ({ path: posix.join(posix.dirname(file.path), specifier), line }))
        .filter(({ path }) => paths.has(path))
      return [file.path, { file, imports }]
    }),
  )
}

function locationIn(edges: Edges | undefined, cycle: readonly string[]): Location[] {
  const first = edges?.imports.find(({ path }) => cycle.includes(path))
  return edges === undefined || first === undefined ? [] : [{ path: edges.file.path, line: first.line }]
}

function cyclesIn(graph: Graph): string[][] {
  const cycles: string[][] = []
  const found = new Map<string, number>()
  const open: string[] = []

  /** Returns the earliest open file that this one reaches. */
  function visit(path: string): number {
    const number = found.size
    found.set(path, number)
    open.push(path)
    let earliest = number
    for (const next of graph.get(path)?.imports ?? []) {
      const reached = found.has(next.path) ? (found.get(next.path) ?? number) : visit(next.path)
      if (open.includes(next.path)) earliest = Math.min(earliest, reached)
    }
    if (earliest === number) {
      const group = open.splice(open.indexOf(path))
      const importsItself = graph.get(path)?.imports.some((next) => next.path === path) === true
      if (group.length > 1 || importsItself) cycles.push(group)
    }
    return earliest
  }

  for (const path of graph.keys()) if (!found.has(path)) visit(path)
  return cycles
}
