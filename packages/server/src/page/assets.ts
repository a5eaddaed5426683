/**
 * The files of the page, all in memory: no request can open a file by name. Browsers cache hashed files for a year, and
 * request index.html each time.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BuiltPage } from './built-page.ts'

interface Asset {
  readonly body: Buffer
  readonly type: string
  readonly tag: string
  readonly cache: string
  readonly encoded: Map<string, Promise<Buffer>>
}

export interface Assets {
  /** Undefined: there is no such file, and the path does not belong to the page. */
  answer(path: string, headers: Headers): Promise<Response | undefined>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

const building = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>q</title>
<p>The page is being built; it appears in a moment.</p></html>`

const missing = `<!doctype html><html lang="en"><meta charset="utf-8"><title>q</title>
<h1>The page is not built</h1>
<p>The HTTP API works. In a clone of the repository, <code>npx --yes pnpm@12 --filter @q/dashboard build</code> builds the page; then restart.</p></html>`

/** A newly built page replaces the previous one when it is ready. */
export function createAssets(page: BuiltPage, onFault: (error: unknown, what: string) => void): Assets {
  let assets = readAll(page.folder, page.next === undefined ? missing : building)
  void page.next?.then(
    (folder) => void (assets = readAll(folder, missing)),
    (error: unknown) => onFault(error, 'building the page'),
  )
  return {
    async answer(path, headers) {
      const asset = assets.get(path) ?? (isPlace(path) ? assets.get('/index.html') : undefined)
      return asset === undefined ? undefined : respond(asset, headers)
    },
  }
}

function readAll(folder: string | undefined, otherwise: string): ReadonlyMap<string, Asset> {
  const assets = new Map(folder === undefined ? [] : filesIn(folder))
  if (!assets.has('/index.html')) assets.set('/index.html', assetOf('/index.html', Buffer.from(otherwise)))
  return assets
}

function filesIn(folder: string): [string, Asset][] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && extname(entry.name) in types)
    .map((entry) => {
      const path = `/${relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')}`
      return [path, assetOf(path, readFileSync(join(entry.parentPath, entry.name)))]
    })
}

function assetOf(path: string, body: Buffer): Asset {
  return {
    body,
    type: types[extname(path)] ?? 'application/octet-stream',
    tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    cache: path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    encoded: new Map(),
  }
}

/** First parts of paths that never belong to the page. */
const reserved = new Set(['api', 'assets', 'healthz', 'readyz', 'startupz', 'metrics'])

/**
 * Whether the path can be an address within the page: its first part is a plain word, and later parts are any names
 * except "." and "..".
 */
function isPlace(path: string): boolean {
  const [, first = '', ...names] = path.split('/')
  if (path === '/') return true
  if (!/^[\w-]+$/.test(first) || reserved.has(first)) return false
  return names.every((name) => {
    const text = decoded(name)
    return text !== undefined && text !== '' && !/[\\\p{Cc}]/u.test(text) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(text)
  })
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const compress: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (body) => promisify(gzip)(body),
}

async function respond(asset: Asset, headers: Headers): Promise<Response> {
  const common = { 'Content-Type': asset.type, 'Cache-Control': asset.cache, ETag: asset.tag, Vary: 'Accept-Encoding' }
  if (headers.get('If-None-Match') === asset.tag) return new Response(null, { status: 304, headers: common })
  const accepted = (headers.get('Accept-Encoding') ?? '').split(',').map((part) => part.trim().split(';')[0])
  const encoding = Object.keys(compress).find((name) => accepted.includes(name))
  if (encoding === undefined || asset.body.length < 1_024 || asset.type.startsWith('image/p'))
    return new Response(new Uint8Array(asset.body), { headers: common })
  const body = asset.encoded.get(encoding) ?? compress[encoding]?.(asset.body) ?? Promise.resolve(asset.body)
  asset.encoded.set(encoding, body)
  return new Response(new Uint8Array(await body), { headers: { ...common, 'Content-Encoding': encoding } })
}
