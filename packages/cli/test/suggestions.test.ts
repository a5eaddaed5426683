/** Every command that a printed sentence suggests is one that the command line accepts. */
import { expect, test } from 'vitest'
import { problemOf } from './parse-line.ts'
import { commandsIn, suggestionsOfSources } from './suggested-commands.ts'

test('every q command in a text of the sources parses, with its names quoted for a shell', async () => {
  const suggestions = suggestionsOfSources()
  expect(suggestions.length).toBeGreaterThan(200)
  const problems = await Promise.all(
    suggestions.map(async ({ place, words }) => ({ place, problem: await problemOf(words) })),
  )
  expect(problems.filter(({ problem }) => problem !== undefined)).toEqual([])
})

test.each([
  ['q runs lists the newest runs.', ['runs']],
  ["Undo: q queues resume 'bulk mail'", ['queues', 'resume', 'bulk mail']],
  ['psql "$(q db url)"    opens psql', ['db', 'url']],
  ["echo '{}' | q enqueue wait - --delay 10s", ['enqueue', 'wait', '-', '--delay', '10s']],
])('the command in "%s" is found', (text, words) => expect(commandsIn(text)).toEqual([words]))

test.each(['runs --veiw failed', 'staus', 'show', 'queues resume bulk mail', 'runs --view newset'])(
  'q %s is refused',
  async (line) => expect(await problemOf(line.split(' '))).toMatch(/^error: /),
)
