/** The session of a replica, alone: a session that the test answers for. */
import { expect, test } from 'vitest'
import { createOwnPresence } from '../src/main/liveness/own-presence.ts'
import { createPresenceSession } from '../src/main/liveness/presence-session.ts'

test('a session that does not answer keeps its lock until its record is withdrawn or another session has the lock', async () => {
  const presence = createOwnPresence()
  const closed: number[] = []
  const lost: ((error: Error) => void)[] = []
  const silence = new Set<number>()
  const session = createPresenceSession({
    async open({ onLost }) {
      const number = lost.push(onLost)
      const ping = () => (silence.has(number) ? Promise.reject(new Error('silent')) : Promise.resolve())
      return { ping, verify: ping, close: () => void closed.push(number) }
    },
    presence,
    nowMs: () => 0,
    observe: () => {},
    onWake: () => {},
    onOpen: () => {},
    onLost: () => {},
    onExposed: () => {},
  })
  async function openThenSilence(number: number): Promise<void> {
    await session.tick()
    silence.add(number)
    await session.tick()
    expect(presence.isHeld()).toBe(false)
    expect(closed).not.toContain(number)
  }
  await openThenSilence(1)
  session.withdrawn()
  expect(closed).toEqual([1])
  await openThenSilence(2)
  await session.tick()
  expect(presence.isHeld()).toBe(true)
  expect(closed).toEqual([1, 2])
  silence.add(3)
  await session.tick()
  lost[2]?.(new Error('reset')) // the silent one breaks: that is no second loss
  expect(closed).toEqual([1, 2, 3])
  await session.tick()
  expect(presence.isHeld()).toBe(true)
  session.close()
  expect(closed).toEqual([1, 2, 3, 4])
})

test('a session that does not prove itself is replaced at once; where sessions are unavailable, none is tried again', async () => {
  const presence = createOwnPresence()
  const seen: string[] = []
  let opened = 0
  const session = createPresenceSession({
    async open() {
      opened++
      if (opened === 3) return undefined
      const ping = () => (opened === 1 ? Promise.reject(new Error('silent')) : Promise.resolve())
      return { ping, verify: ping, close: () => {} }
    },
    presence,
    nowMs: () => 0,
    observe: ({ type }) => void seen.push(type),
    onWake: () => {},
    onOpen: () => void seen.push('open'),
    onLost: () => void seen.push('lost'),
    onExposed: () => void seen.push('exposed'),
  })
  await session.tick()
  expect(presence.isHeld()).toBe(true)
  expect(await session.tick()).toEqual({ afterMs: 0 })
  expect(presence.mustWithdraw()).toBe(true)
  await session.tick()
  await session.tick()
  expect(seen).toEqual(['session-opened', 'open', 'session-lost', 'lost', 'session-opened', 'open'])
  session.renew()
  expect((await session.tick()).afterMs).toBe(Number.POSITIVE_INFINITY)
  await session.tick()
  expect(opened).toBe(3)
})
