/** `node app.ts`, with DATABASE_URL; a replica beside it: `Q_TASKS=tasks.ts q start`. */
import { queue } from '@q/client'
import { build } from './build.ts'

const q = queue(process.env.DATABASE_URL)
const run = await q.start(build, { repo: 'calc', files: 8, expected: null })
for await (const { ended, total } of run.progress()) console.log(`${ended} of ${total}`)
const { passed, url } = await run.result({ timeout: '1m' })
console.log(passed, url)
await q.close()
