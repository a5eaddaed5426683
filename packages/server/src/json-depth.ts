/**
 * Whether brackets outside of strings are nested deeper. Reads the text once and without recursion. A regular expression
 * would read a string that never ends again from each of its quotes.
 */
export function isDeeperThan(text: string, max: number): boolean {
  let depth = 0
  let isInString = false
  for (let place = 0; place < text.length; place++) {
    const mark = text[place]
    if (isInString && mark === '\\') place += 1
    else if (mark === '"') isInString = !isInString
    else if (isInString) continue
    else if (mark === ']' || mark === '}') depth -= 1
    else if (mark === '[' || mark === '{') depth += 1
    if (depth > max) return true
  }
  return false
}
