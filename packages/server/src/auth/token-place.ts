/** Returns the default path of the token: `.q/token` in the workspace, beside the data of the embedded database. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export function tokenPlace(env: NodeJS.ProcessEnv): string {
  const from = env['INIT_CWD'] ?? '.'
  const { Q_HTTP_TOKEN_FILE: file, Q_DATA_DIR: dataDir } = env
  if (file) return resolve(from, file)
  if (dataDir) return join(dirname(resolve(from, dataDir)), 'token')
  return join(workspaceRoot(process.cwd()), '.q', 'token')
}

/** Returns the nearest ancestor that is a workspace or a clone; else the nearest package; else the folder itself. */
function workspaceRoot(from: string): string {
  return nearest(from, ['pnpm-workspace.yaml', '.git']) ?? nearest(from, ['package.json']) ?? from
}

function nearest(from: string, marks: readonly string[]): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (marks.some((mark) => existsSync(join(folder, mark)))) return folder
    if (dirname(folder) === folder) return undefined
  }
}
