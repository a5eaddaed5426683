import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Variables of this workspace, which a user's program would not have. */
const ours =
  /^(Q_|DATABASE_URL|NODE_OPTIONS$|INIT_CWD$|npm_(lifecycle|package|command|execpath|node_execpath)|npm_config_user_agent$)/

/** Its output is shown only when it fails. */
export async function run(
  program: string,
  args: string[],
  cwd: string,
  extra: NodeJS.ProcessEnv = {},
): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
  const child = spawn(program, args, { cwd, env: { ...env, ...extra }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code, signal]: unknown[] = await once(child, 'close')
  if (code === 0) return output
  throw new Error(`${output.trimEnd()}\n${program} ${args.join(' ')} ended with ${String(code ?? signal)}`)
}
