/** The person who runs a command, as the database records it: `Q_USER`, else the user and the machine. */
import { hostname, userInfo } from 'node:os'

export function personOf(env: NodeJS.ProcessEnv): string {
  return env['Q_USER'] || `${systemUser()}@${hostname()}`
}

/** A container may run as a number without a name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
