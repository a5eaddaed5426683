/**
 * A replica that kills itself at one exact moment. CUT_AT: when an answer of the database that matches has arrived, with
 * the connection in CUT_STATE (I: committed, T: inside a transaction), before this process has read it; with CUT_AFTER only
 * on a connection that has brought an answer which matches that. CUT_EVENT: when an event of that type is observed.
 */
import { Socket } from 'node:net'
import { readConfig, startRunner } from '@q/runner'
import { findTaskModules } from '../src/startup/task-modules.ts'

const { CUT_AT, CUT_AFTER = '', CUT_STATE = 'I', CUT_EVENT, DATABASE_URL = '' } = process.env
const die = () => void process.kill(process.pid, 'SIGKILL')

if (CUT_AT !== undefined) {
  const wanted = new RegExp(CUT_AT)
  const before = new RegExp(CUT_AFTER)
  const armed = new WeakSet<Socket>()
  const emit = Socket.prototype.emit
  Socket.prototype.emit = function (this: Socket, event: string | symbol, ...args: unknown[]): boolean {
    const [chunk] = args
    const answer = event === 'data' && Buffer.isBuffer(chunk) ? chunk.toString('latin1') : ''
    // The last byte of an answer is the state of its connection.
    if ((CUT_AFTER === '' || armed.has(this)) && answer.endsWith(CUT_STATE) && wanted.test(answer)) die()
    if (before.test(answer)) armed.add(this)
    return Reflect.apply(emit, this, [event, ...args]) as boolean
  }
}

const config = readConfig(process.env)
const runner = await startRunner({
  databaseUrl: DATABASE_URL,
  config,
  version: '0.0.0',
  taskModules: findTaskModules(config.taskModules, process.env),
  observe: ({ type }) => (type === CUT_EVENT ? die() : undefined),
})
console.log(JSON.stringify({ msg: 'started', replicaId: runner.replicaId }))
await runner.left
