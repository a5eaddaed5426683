/** The programs that a search needs and npm does not have. */
import { runCommand } from '../test-steps/run-command.ts'

const tools = [
  { name: 'spin', argv: ['spin', '-V'], fix: 'apt-get install spin, brew install spin, or https://spinroot.com' },
  { name: 'a C compiler (cc)', argv: ['cc', '--version'], fix: 'apt-get install gcc, or xcode-select --install' },
]

/** A sentence for each tool that is not there. */
export async function missingTools(): Promise<string[]> {
  const found = await Promise.all(tools.map(({ argv }) => runCommand({ argv })))
  return tools.flatMap(({ name, fix }, index) => (found[index]?.code === 0 ? [] : `${name} is not installed: ${fix}`))
}
