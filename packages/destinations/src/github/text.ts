/**
 * Formats text in comments. Text from outside q appears only as a code span, where GitHub renders no mentions,
 * references, closing keywords, HTML comments or markup.
 */
const spanLengthMax = 500

export function codeSpan(text: string): string {
  const line = oneLineWithin(text.replaceAll('`', "'").replaceAll('|', '¦'), spanLengthMax)
  return `\`${line === '' ? '-' : line}\``
}

export function oneLineWithin(text: string, lengthMax: number): string {
  const line = text.replaceAll(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > lengthMax ? `${line.slice(0, lengthMax).toWellFormed()}…` : line
}

/** `15m 32s`: the two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)]
  if (days > 0) return `${days}d ${hours % 24}h`
  if (hours > 0) return `${hours}h ${minutes % 60}m`
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`
}

/** `2h 0m`: hours and minutes, however long. */
export function uptimeText(seconds: number): string {
  const minutes = Math.max(0, Math.floor(seconds / 60))
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}
