/**
 * `pnpm chaos:schedule`: three replicas and a schedule that ticks each second for a minute; the replica that enqueues
 * is killed.
 */
import { scriptOptions } from '@q/schema/script-options'
import { testDatabase } from '@q/testing'
import { scheduleScenario } from './schedule-scenario.ts'

const values = scriptOptions('chaos:schedule', {
  seconds: { number: 60, least: 1, means: 'how long the schedule ticks' },
})
const database = await testDatabase()
try {
  const { ticks, missed, doubled, unfinished, lateMsMax, killed } = await scheduleScenario(database.url, values.seconds)
  const who = killed.wasOnDuty ? 'the replica that enqueues' : 'a replica'
  console.log(`killed ${who} after ${killed.afterTicks} ticks`)
  console.log(
    `${ticks} ticks: ${missed.length} missed, ${doubled} doubled; latest ${Math.round(lateMsMax)} ms after its second`,
  )
  console.log(`${unfinished} runs did not succeed`)
  process.exitCode = missed.length + doubled === 0 ? 0 : 1
} finally {
  await database.drop()
}
