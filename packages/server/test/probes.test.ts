/** The probes of an orchestrator: they need no token, and only readiness follows a drain. */
import { afterAll, expect, test } from 'vitest'
import { createProbes } from '../src/http/probes.ts'
import { serverScene } from './scene.ts'

let isDraining = false
const scene = await serverScene({}, { isDraining: () => isDraining })
afterAll(() => scene.close())

const probe = async (path: string) => {
  const { status, text } = await scene.ask('GET', path)
  return `${status} ${text.trim()}`
}
const all = () => Promise.all(['/healthz', '/startupz', '/readyz'].map(probe))

test('a replica that drains is not ready, and is ready again when the drain is undone', async () => {
  await expect.poll(all).toEqual(['200 ok', '200 ok', '200 ok'])
  isDraining = true
  expect(await all()).toEqual(['200 ok', '200 ok', '503 draining'])
  isDraining = false
  expect(await all()).toEqual(['200 ok', '200 ok', '200 ok'])
})

test('a server that has not reached its database is healthy, and neither started nor ready', async () => {
  const probes = createProbes({ started: () => false, draining: () => false })
  const answers = ['/healthz', '/startupz', '/readyz'].map((path) => probes.answer(path))
  expect(answers.map(({ status }) => status)).toEqual([200, 503, 503])
  expect(await Promise.all(answers.slice(1).map((answer) => answer.text()))).toEqual(['starting\n', 'starting\n'])
})
