/**
 * The environment of child processes: the variables listed here and those that the settings allow. So task code in a child
 * process never gets the database URL, PG* variables or tokens by accident.
 */
const alwaysAllowed = [
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

/** `allowed`: further names; a trailing * matches any suffix. */
export function childEnv(env: NodeJS.ProcessEnv, allowed: readonly string[] = []): NodeJS.ProcessEnv {
  const patterns = [...alwaysAllowed, ...allowed]
  const isAllowed = (name: string) =>
    patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
  return Object.fromEntries(Object.entries(env).filter(([name]) => isAllowed(name)))
}
