// app.ts: loads the types of the tasks and none of their code
import { Client } from 'pg'
import { queue } from '@q/client'
import type * as tasks from './tasks.ts'

const q = queue<typeof tasks>(process.env.DATABASE_URL)

const greeting = await q.enqueue('hello', { name: 'Ada' })
console.log(await greeting.result({ timeout: '1m' }))

const url = 'https://example.org/cat.png'
const tenantId = 'acme'
const tx = new Client(process.env.DATABASE_URL)
await tx.connect()
await tx.query('BEGIN')
const run = await q.enqueue('resize', { url }, { tx, delay: '5m', priority: -10, group: tenantId })
await tx.query('COMMIT')
await tx.end()
console.log(run.id)
const { bytes } = await run.result({ timeout: '1m' })
console.log(bytes)
await q.close()
