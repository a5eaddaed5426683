/**
 * The tokens that the server accepts. It reads the files again when they change, so a replaced token becomes invalid at
 * once, together with its sessions.
 */
import { timingSafeEqual, createHmac, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { digestOf, ownerName, readNamedTokens, type NamedToken } from './named-tokens.ts'
import { readToken } from './token-file.ts'

export interface TokenFiles {
  /** The default token, with every right. */
  readonly tokenFile?: string
  readonly tokensFile?: string
}

export interface Tokens {
  /** Undefined: the token does not exist. */
  find(text: string): NamedToken | undefined
  /** Signs the sessions that were begun with this token. Undefined: the token does not exist. */
  sessionKey(name: string): { readonly token: NamedToken; readonly key: Buffer } | undefined
}

const lookEveryMs = 1_000

interface Known {
  readonly version: string
  readonly tokens: readonly NamedToken[]
  readonly secret: Buffer
}

export function createTokens(files: TokenFiles, now: () => number = Date.now): Tokens {
  const random = randomBytes(32)
  let known = readAll(files, random)
  let lookedAt = now()
  function current(): Known {
    if (now() - lookedAt < lookEveryMs) return known
    lookedAt = now()
    if (versionOf(files) === known.version) return known
    // If a file cannot be read or is incomplete, the tokens do not change until the next check.
    try {
      known = readAll(files, random)
    } catch {}
    return known
  }
  return {
    find(text) {
      const digest = digestOf(text)
      // Compares with all tokens, so the time does not depend on which one is similar.
      return current().tokens.filter((token) => timingSafeEqual(token.digest, digest))[0]
    },
    sessionKey(name) {
      const { tokens, secret } = current()
      const token = tokens.find((one) => one.name === name)
      if (token === undefined) return undefined
      return { token, key: createHmac('sha256', secret).update(token.digest).digest() }
    },
  }
}

/** The default token signs sessions. Without it a random key does, and sessions end with this process. */
function readAll({ tokenFile, tokensFile }: TokenFiles, random: Buffer): Known {
  const version = versionOf({ ...(tokenFile && { tokenFile }), ...(tokensFile && { tokensFile }) })
  const text = tokenFile === undefined ? undefined : readToken(tokenFile)
  const named = tokensFile === undefined ? [] : readNamedTokens(tokensFile)
  const owner: NamedToken[] = text === undefined ? [] : [{ name: ownerName, scope: 'admin', digest: digestOf(text) }]
  return { version, tokens: [...owner, ...named], secret: text === undefined ? random : Buffer.from(text) }
}

function versionOf({ tokenFile, tokensFile }: TokenFiles): string {
  return [tokenFile, tokensFile]
    .map((path) => {
      const stats = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
      return stats === undefined ? 'none' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`
    })
    .join(', ')
}
