/** q completion: a script that completes commands and options in a shell. */
import { Argument, type Command } from 'commander'
import { answerText } from '../frame/answer.ts'
import { type CommonOptions, newTextCommand } from '../frame/command.ts'
import { reportProblem } from '../frame/run-with-database.ts'
import type { Terminal } from '../frame/terminal.ts'

type Shell = 'bash' | 'zsh' | 'fish'

export function completionCommand(terminal: Terminal): Command {
  return newTextCommand({
    name: 'completion',
    summary: 'print a script that completes commands and options in your shell',
    examples: [
      ['source <(q completion bash)', 'for this shell; add the line to ~/.bashrc to keep it'],
      ['q completion zsh > "${fpath[1]}/_q"', 'for every new zsh'],
      ['q completion fish > ~/.config/fish/completions/q.fish', 'for every new fish'],
    ],
    json: '{ shell, script }',
  })
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .action((shell: Shell, { json, fields }: CommonOptions, command: Command) => {
      const script = scripts[shell](wordsOf(command.parent ?? command))
      try {
        terminal.printData(json === true ? answerText({ shell, script }, fields) : script)
      } catch (error) {
        reportProblem(terminal, error, { ...(json && { json }) })
      }
    })
}

/** Words that may follow a path of commands: `q queues` → pause, resume, --json, … */
type Words = ReadonlyMap<string, readonly string[]>

function wordsOf(command: Command, path = ''): Words {
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long }) => (long === undefined || long === null ? [] : [long]))
  const nested = command.commands.filter((one) => one.name() !== 'help')
  const words = new Map<string, readonly string[]>([[path, [...nested.map((one) => one.name()), ...options, '--help']]])
  for (const one of nested)
    for (const [below, those] of wordsOf(one, `${path} ${one.name()}`.trim())) words.set(below, those)
  return words
}

const scripts: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: (words) => `_q_words() {
  case "$1" in
${[...words].map(([path, those]) => `    '${path}') echo '${those.join(' ')}' ;;`).join('\n')}
  esac
}
_q() {
  local path='' word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    words=$(_q_words "\${path:+$path }$word")
    if [ -n "$words" ]; then path="\${path:+$path }$word"; fi
  done
  COMPREPLY=($(compgen -W "$(_q_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _q q`,
  zsh: (words) => `#compdef q
_q() {
  local -A table=(
${[...words].map(([path, those]) => `    '${path || '-'}' '${those.join(' ')}'`).join('\n')}
  )
  local path='-' word next
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    next="\${path#-}"; next="\${next:+$next }$word"
    (( \${+table[$next]} )) && path="$next"
  done
  compadd -- \${(s: :)table[$path]}
}
compdef _q q`,
  fish: (words) => [...words].flatMap(([path, those]) => those.map((word) => fishLine(path, word))).join('\n'),
}

function fishLine(path: string, word: string): string {
  const condition =
    path === ''
      ? '__fish_use_subcommand'
      : path
          .split(' ')
          .map((part) => `__fish_seen_subcommand_from ${part}`)
          .join('; and ')
  return word.startsWith('--')
    ? `complete -c q -n '${condition}' -l ${word.slice(2)}`
    : `complete -c q -f -n '${condition}' -a ${word}`
}
