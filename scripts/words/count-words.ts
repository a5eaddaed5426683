/** Counts the words that style forbids, as whole words in any case. A phrase may be hyphenated, or broken over two lines. */
export const forbiddenWords = [
  'whoever',
  'whosoever',
  'somebody',
  'nobody',
  'any more',
  'meanwhile',
  'for ever',
  'by hand',
  'wish',
  'told',
] as const

export type ForbiddenWord = (typeof forbiddenWords)[number]
export type WordCounts = Partial<Record<ForbiddenWord, number>>

const betweenWords = String.raw`(?:-|\s+(?:(?:[*>#]|//|--)\s*)?)`

const patterns = forbiddenWords.map((word) => ({
  word,
  pattern: new RegExp(String.raw`\b${word.replace(' ', betweenWords)}\b`, 'gi'),
}))

/** The forbidden words that occur in a text, each with its count. */
export function countWords(text: string): WordCounts {
  const counts: WordCounts = {}
  for (const { word, pattern } of patterns) {
    const count = [...text.matchAll(pattern)].length
    if (count > 0) counts[word] = count
  }
  return counts
}
