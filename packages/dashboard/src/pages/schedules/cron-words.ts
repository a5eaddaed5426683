/** A pattern in words: "Every 15 minutes, between 08:00 and 17:59". The pattern itself where it cannot be said. */
import cronstrue from 'cronstrue'

export function cronWords(cron: string): string {
  if (cron.length > 200) return cron
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false })
  } catch {
    return cron
  }
}
