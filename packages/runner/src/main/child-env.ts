/**
 * The environment of child processes: only what is named here or allowed by the settings. Task code in a child gets no
 * database URL, no PG*, no tokens by accident; what it needs is allowed by name.
 */
const harmless = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'NODE_COMPILE_CACHE',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NODE_PATH',
  'NO_COLOR',
  'FORCE_COLOR',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'UV_THREADPOOL_SIZE',
  'LD_LIBRARY_PATH',
  'SystemRoot',
]

/** `allowed`: further names; one that ends in * allows all that begin so. */
export function childEnv(env: NodeJS.ProcessEnv, allowed: readonly string[] = []): NodeJS.ProcessEnv {
  const patterns = [...harmless, ...allowed]
  const isAllowed = (name: string) =>
    patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
  return Object.fromEntries(Object.entries(env).filter(([name]) => isAllowed(name)))
}
