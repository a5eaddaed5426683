/**
 * Loads code whose packages only one kind of destination uses. They are optional peers, so an installation without such
 * a destination does not need them. If they are missing, the error says how to install them.
 */
import { ExplainedError } from '@q/schema'

export interface OptionalPackages {
  readonly code: string
  readonly what: string
  readonly why: string
  readonly fix: string
}

export async function withOptionalPackages<T>(packages: OptionalPackages, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (Reflect.get(error as object, 'code') !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ExplainedError({ ...packages, cause: error })
  }
}

export function installCommand(names: string): string {
  return `npm install ${names} (in a clone of q: npx --yes pnpm@12 install)`
}
