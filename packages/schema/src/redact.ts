/**
 * Removes secrets from text that is about to be stored as an error, printed or sent: passwords and tokens in URLs,
 * credentials of HTTP headers, and JSON members whose name suggests a secret. It applies to final texts, because an
 * error of a driver, task or library may quote them in any field. Each pattern reads a word once, so the time is linear
 * in the length of the text. Texts within JSON are redacted one by one: a pattern could match from one into the next.
 */
export function redactPatterns(text: string): string {
  let clean = text
  for (const [pattern, replacement] of patterns) clean = clean.replaceAll(pattern, replacement)
  return clean
}

/** Whether the name of a JSON member suggests that its value is a secret. */
export function isSecretName(name: string): boolean {
  return secretNames.test(name)
}

const secretName = String.raw`password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization|cookie`
const secretNames = new RegExp(secretName, 'i')

const patterns: readonly (readonly [RegExp, string])[] = [
  // Reads up to the last @ before a space or a quotation mark, because a password may contain any other character; in
  // JSON such a mark is escaped. Reads at most 500 characters, so that many incomplete URLs take no longer. The
  // password of our own example URL stays.
  [/(\b\w+:\/\/[^:/\s"]*:)(?!password@host)(?:[^\s"\\]|\\.){0,500}@/g, '$1***@'],
  // A token in the place of the user: https://token@host.
  [/(\bhttps?:\/\/)[^\s"/?#@:\\]+@/gi, '$1***@'],
  [
    new RegExp(String.raw`([?&;][\w.-]{0,40}(?:${secretName}|signature|\bsig)[\w.-]{0,40}=)[^\s"&;#\\]+`, 'gi'),
    '$1***',
  ],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, '$1 ***'],
  [/\bq_[\w-]{43}\b/g, 'q_***'],
  [new RegExp(String.raw`("[^"\\]{0,40}(?:${secretName})[^"\\]{0,40}"\s*:\s*)"(?:[^"\\]|\\.)*"`, 'gi'), '$1"***"'],
  // The format of objects in console.log.
  [new RegExp(String.raw`(\b[\w-]{0,40}(?:${secretName})[\w-]{0,40}'?:\s*)'(?:[^'\\]|\\.)*'`, 'gi'), "$1'***'"],
]
