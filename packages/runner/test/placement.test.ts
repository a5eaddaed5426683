import { expect, test } from 'vitest'
import { createRoom, sumOfLoads, type Available } from '../src/main/dispatch/placement.ts'
import type { Load } from '../src/main/dispatch/start-ahead.ts'

const none: Load = { runs: 0, ms: 0 }

/** Runs take 1 ms, and a thread takes three of them. */
const startAhead = {
  expectedMs: () => 1,
  hasRoom: ({ ms }: Load) => ms < 3,
  fits: ({ ms }: Load, task: string) => task === 'short' && ms < 3,
}

function roomOf({ loads = [none, none], ...more }: Partial<Available>) {
  const given = { loads, ringRoom: () => 100, ahead: true, freeMax: loads.length, reserved: [], ...more }
  const room = createRoom(startAhead, given)
  const takeAll = (task = 'short') => {
    const taken: number[] = []
    for (let slot = room.take(task); slot !== undefined; slot = room.take(task)) taken.push(slot)
    return taken
  }
  return { ...room, takeAll }
}

test('a run goes to the thread with the least expected work', () => {
  expect(
    roomOf({
      loads: [
        { runs: 1, ms: 2 },
        { runs: 1, ms: 0.5 },
      ],
    }).takeAll(),
  ).toEqual([1, 1, 0, 1])
})

test('free threads are filled before any thread is handed a second run', () => {
  expect(roomOf({}).takeAll()).toEqual([0, 1, 0, 1, 0, 1])
})

test('without start-ahead a thread is handed one run, and none if it is busy', () => {
  expect(roomOf({ ahead: false }).takeAll()).toEqual([0, 1])
  expect(roomOf({ ahead: false, loads: [{ runs: 1, ms: 1 }] }).isEmpty()).toBe(true)
})

test('a replica that is not healthy uses fewer of its free threads', () => {
  expect(roomOf({ freeMax: 1, ahead: false }).takeAll()).toEqual([0])
  expect(roomOf({ freeMax: 0 }).isEmpty()).toBe(true)
})

test('a thread takes no more runs than its ring has room for', () => {
  expect(roomOf({ loads: [{ runs: 1, ms: 1 }], ringRoom: () => 1 }).takeAll()).toEqual([0])
  expect(roomOf({ loads: [{ runs: 1, ms: 1 }], ringRoom: () => 0 }).isEmpty()).toBe(true)
})

test('room that another claim may fill is not offered again', () => {
  expect(roomOf({ loads: [none], reserved: [{ runs: 2, ms: 2 }] }).takeAll()).toEqual([0])
  expect(roomOf({ loads: [none], reserved: [{ runs: 3, ms: 3 }] }).isEmpty()).toBe(true)
})

test('a thread that takes no runs is skipped', () => {
  expect(roomOf({ loads: [undefined, none] }).takeAll()).toEqual([1, 1, 1])
  expect(roomOf({ loads: [undefined] }).isEmpty()).toBe(true)
})

test('a run that does not fit takes no room from one that does', () => {
  const room = roomOf({ loads: [none] })
  expect([room.take('long'), room.isEmpty(), room.take('short')]).toEqual([undefined, false, 0])
})

test('an idle thread can be reserved whole, and is then full', () => {
  const room = roomOf({ loads: [{ runs: 1, ms: 1 }, none] })
  expect([room.takeWhole(), room.takeWhole()]).toEqual([1, undefined])
  expect(room.takeAll()).toEqual([0, 0])
  expect(roomOf({ freeMax: 0 }).takeWhole()).toBeUndefined()
})

test('the reserved load is known by slot', () => {
  const room = roomOf({ loads: [none, undefined, none] })
  room.take('short')
  room.takeWhole()
  expect(room.added.map(({ runs }) => runs)).toEqual([1, 0, 1])
  expect(sumOfLoads([...room.added, { runs: 2, ms: 1 }]).runs).toBe(4)
})
