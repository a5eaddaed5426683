/**
 * The tokens that are accepted now. The files are read again when they change, so a replaced token ends at once, together with
 * the sessions that were begun with it.
 */
import { timingSafeEqual, createHmac, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { digestOf, ownerName, readNamedTokens, type Token } from './named-tokens.ts'
import { readToken } from './token-file.ts'

export interface TokenFiles {
  /** One token with every right. */
  readonly tokenFile?: string
  readonly tokensFile?: string
}

export interface Tokens {
  /** Undefined: there is no such token. */
  find(text: string): Token | undefined
  /** Signs the sessions that were begun with this token. Undefined: there is no such token. */
  sessionKey(name: string): { readonly token: Token; readonly key: Buffer } | undefined
}

const lookEveryMs = 1_000

interface Known {
  readonly version: string
  readonly tokens: readonly Token[]
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
    // A file that cannot be read now, or is half written, leaves the tokens as they were until the next look.
    try {
      known = readAll(files, random)
    } catch {}
    return known
  }
  return {
    find(text) {
      const digest = digestOf(text)
      // All of them are compared: the time does not tell which one was close.
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

/** Without a token in clear text, which is the secret, sessions end with this process. */
function readAll({ tokenFile, tokensFile }: TokenFiles, random: Buffer): Known {
  const version = versionOf({ ...(tokenFile && { tokenFile }), ...(tokensFile && { tokensFile }) })
  const text = tokenFile === undefined ? undefined : readToken(tokenFile)
  const named = tokensFile === undefined ? [] : readNamedTokens(tokensFile)
  const owner: Token[] = text === undefined ? [] : [{ name: ownerName, scope: 'admin', digest: digestOf(text) }]
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
