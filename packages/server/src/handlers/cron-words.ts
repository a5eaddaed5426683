/**
 * A pattern in words: "Every 15 minutes, between 08:00 and 17:59". The pattern itself where it cannot be said. The library is loaded
 * with the first question: a replica whose page is not opened does not carry it.
 */
const patternMax = 200

export async function cronWords(cron: string): Promise<string> {
  if (cron.length > patternMax) return cron
  const { default: cronstrue } = await import('cronstrue')
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false })
  } catch {
    return cron
  }
}
