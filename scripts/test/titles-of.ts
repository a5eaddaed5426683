/** Every string that follows an opening parenthesis in code: titles of tests, and some more. */
export function titlesOf(code: string): string[] {
  return [...code.matchAll(/\(\s*(?:'((?:[^'\\]|\\.)+)'|`([^`]+)`|"([^"]+)")/g)].map((found) =>
    (found[1] ?? found[2] ?? found[3] ?? '').replaceAll("\\'", "'"),
  )
}
