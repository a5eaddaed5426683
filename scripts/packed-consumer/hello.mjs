// What a user does first, in a project that has nothing but the packed packages: the code of the README, run by plain Node.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import * as client from '@q/client'
import * as embedded from '@q/embedded'
import * as runner from '@q/runner'
import { migrationFiles } from '@q/schema'
import * as store from '@q/store'
import * as task from '@q/task'
import * as testing from '@q/testing'

for (const [name, exported] of Object.entries({ client, embedded, runner, store, task, testing })) {
  assert.notEqual(Object.keys(exported).length, 0, `@q/${name} exports nothing`)
}
assert.notEqual((await migrationFiles()).length, 0, '@q/schema ships no migrations')

// Published code finds its threads and its child processes by name, not by file.
const apart = "import { task } from '@q/task'\nexport const apart = task({ isolation: 'process' }, () => process.pid)\n"
writeFileSync('apart.mjs', apart)

const q = 'node_modules/.bin/q'
const replica = spawn(q, ['start'], {
  env: { ...process.env, Q_TASKS: 'tasks.ts,apart.mjs' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(replica, 'exit')
await Promise.race([started(replica.stdout), ended.then(([code]) => assert.fail(`q start ended with ${code}`))])

const url = execFileSync(q, ['db', 'url'], { encoding: 'utf8' }).trim()
const env = { ...process.env, DATABASE_URL: url }
const said = execFileSync(process.execPath, ['app.ts'], { env, encoding: 'utf8' })
assert.equal(said, 'const: 6\nword: 5\ncounts: 4\n')

const queue = client.queue(url)
const pid = await (await queue.enqueue('apart', {})).result({ timeout: '30s' })
assert.ok(Number.isInteger(pid) && pid !== replica.pid, `it ran in process ${String(pid)}`)
await queue.close()

replica.kill('SIGTERM')
assert.deepEqual(await ended, [0, null])

async function started(output) {
  let text = ''
  for await (const chunk of output) {
    text += chunk
    if (text.includes('"msg":"started"')) return
  }
}
