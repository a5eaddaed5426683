/**
 * Returns the name under which the database records the person who runs a command: `Q_USER`, else the user and the
 * machine.
 */
import { hostname, userInfo } from 'node:os'

export function personOf(env: NodeJS.ProcessEnv): string {
  return env['Q_USER'] || `${systemUser()}@${hostname()}`
}

/** A container's user id may have no name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
