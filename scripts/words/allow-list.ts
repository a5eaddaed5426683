/**
 * Compares the forbidden words of the workspace with the allow-list. A count above the recorded one fails, and so does a
 * count below it: the list then has to be lowered, so that it can only shrink.
 */
import { type ForbiddenWord, forbiddenWords, type WordCounts } from './count-words.ts'

/** Counts by path, relative to the workspace. Files without a forbidden word are not listed. */
export type CountsByFile = Readonly<Record<string, WordCounts>>

/** One line for each count that differs from the recorded one. */
export function differences(found: CountsByFile, allowed: CountsByFile): string[] {
  const paths = [...new Set([...Object.keys(found), ...Object.keys(allowed)])].toSorted()
  return paths.flatMap((path) =>
    forbiddenWords.flatMap((word) => {
      const count = found[path]?.[word] ?? 0
      const recorded = allowed[path]?.[word] ?? 0
      return count === recorded ? [] : [`${path}: "${word}" occurs ${count} times, the allow-list has ${recorded}`]
    }),
  )
}

/** The words whose total grew. Moving a file from one path to another changes no total. */
export function grownWords(found: CountsByFile, allowed: CountsByFile): ForbiddenWord[] {
  return forbiddenWords.filter((word) => total(found, word) > total(allowed, word))
}

export function totalOf(counts: CountsByFile): number {
  return forbiddenWords.reduce((sum, word) => sum + total(counts, word), 0)
}

function total(counts: CountsByFile, word: ForbiddenWord): number {
  return Object.values(counts).reduce((sum, file) => sum + (file[word] ?? 0), 0)
}
