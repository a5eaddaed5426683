/**
 * Stands between the client and the real memory server, for tests that need a fault at one point. It passes every message on,
 * logs each call and answer to the file LOG, and obeys the file FAULT at the next call of a tool: `kill <tool>` ends the server
 * instead of passing the call on, `mute <tool>` drops the call, `leave <tool>` ends the server after its answer.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [server, log, fault] = process.argv.slice(2)
const child = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] })
child.on('exit', () => process.exit(0))
let leaving = false

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { method, params } = JSON.parse(line)
    if (method === 'tools/call') {
      appendFileSync(log, `call ${params.name}\n`)
      const order = existsSync(fault) ? readFileSync(fault, 'utf8') : ''
      const [act, tool] = order.split(' ')
      if (tool === params.name) {
        rmSync(fault)
        if (act === 'kill') child.kill('SIGKILL')
        if (act !== 'leave') return
        leaving = true
      }
    }
    child.stdin.write(`${line}\n`)
  })
  .on('close', () => child.stdin.end())

createInterface({ input: child.stdout }).on('line', (line) => {
  if (JSON.parse(line).result?.content !== undefined) appendFileSync(log, 'answer\n')
  process.stdout.write(`${line}\n`, () => leaving && child.kill('SIGKILL'))
})
