/** The searches of rules. Each returns the places that break its rule; paths are relative to the workspace. */
import { basename, matchesGlob, posix } from 'node:path'
import type { Import } from './imports.ts'
import type { SourceFile, SourceTree } from './source-tree.ts'

export interface Location {
  readonly path: string
  readonly line: number
}
export type Find = (tree: SourceTree) => Iterable<Location>

export interface Where {
  readonly in: string
  /** Files that may, as a path or glob, and why. */
  readonly but?: Readonly<Record<string, string>>
}

/** An import of this: a specifier, or for relative ones the path it leads to. */
export function importing(target: RegExp, where: Where): Find {
  return (tree) =>
    filesIn(tree, where).flatMap((file) =>
      file.imports
        .filter((found) => target.test(leadsTo(file, found.specifier)))
        .map((found) => locationOf(file, found.line)),
    )
}

/** A relative import that leaves the package it stands in. */
export function outOfPackage(files: string): Find {
  return (tree) =>
    filesIn(tree, { in: files }).flatMap((file) => {
      const home = file.path.split('/').slice(0, 2).join('/') + '/'
      return file.imports
        .filter((found) => found.specifier.startsWith('.') && !leadsTo(file, found.specifier).startsWith(home))
        .map((found) => locationOf(file, found.line))
    })
}

/** The import by which one file reaches something it must not, over any number of files of the tree. */
export const reaching = (target: RegExp, { from }: { from: string }): Find => following(() => true, target, from)

/** The same for what one file loads when it is imported: types and deferred imports do not count. */
export const loading = (target: RegExp, { from }: { from: string }): Find =>
  following(({ kind }) => kind === 'value', target, from)

function following(counts: (found: Import) => boolean, target: RegExp, from: string): Find {
  return function* (tree) {
    const seen = new Set<string>()
    const open = [from]
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const file = tree.files.get(path)
      if (file === undefined || seen.has(path)) continue
      seen.add(path)
      for (const { specifier, line } of file.imports.filter(counts)) {
        if (target.test(specifier)) yield locationOf(file, line)
        open.push(tree.entries.get(specifier) ?? leadsTo(file, specifier))
      }
    }
  }
}

/** These words in the code; comments and the contents of strings do not count. */
export function writing(words: RegExp, where: Where): Find {
  return (tree) =>
    filesIn(tree, where).flatMap((file) =>
      file.code.split('\n').flatMap((text, index) => (words.test(text) ? [locationOf(file, index + 1)] : [])),
    )
}

export function dependency(names: readonly string[], { of }: { of: readonly string[] }): Find {
  return (tree) =>
    of.flatMap((name) => {
      const path = `packages/${name}/package.json`
      const text = tree.manifests.get(path) ?? '{}'
      const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> }
      return names
        .filter((unwanted) => unwanted in dependencies)
        .map((unwanted) => ({ path, line: lineOf(text, `"${unwanted}"`) }))
    })
}

/** A test file is named after what it tests. */
export function named(name: RegExp): Find {
  return (tree) =>
    [...tree.files.values()]
      .filter((file) => !file.path.endsWith('.test.ts') && name.test(basename(file.path).split('.')[0]!))
      .map((file) => locationOf(file, 1))
}

export function longerThan(linesMax: number): Find {
  return (tree) =>
    [...tree.files.values()]
      .filter((file) => !file.path.includes('/generated/') && file.lines > linesMax)
      .map((file) => locationOf(file, file.lines))
}

export function filesIn(tree: SourceTree, { in: files, but = {} }: Where): SourceFile[] {
  const exempt = Object.keys(but)
  return [...tree.files.values()].filter(
    ({ path }) => matchesGlob(path, files) && !exempt.some((glob) => matchesGlob(path, glob)),
  )
}

function leadsTo(file: SourceFile, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file.path), specifier) : specifier
}

function locationOf(file: SourceFile, line: number): Location {
  return { path: file.path, line }
}

function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split('\n').length
}
