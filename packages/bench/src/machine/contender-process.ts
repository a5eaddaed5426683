/** A worker process of a contender: `node contender-process.ts`, with its name and settings in the environment. */
import { contenders } from '../contenders/list.ts'
import { readyLine, type ContenderSettings } from '../contenders/contender.ts'

const { BENCH_CONTENDER, BENCH_DATABASE = '', BENCH_SETTINGS = '{}' } = process.env
const contender = contenders.find(({ name }) => name === BENCH_CONTENDER)
if (contender === undefined) throw new Error(`There is no contender ${BENCH_CONTENDER}.`)
const serving = await contender.serve(BENCH_DATABASE, JSON.parse(BENCH_SETTINGS) as ContenderSettings)
console.log(readyLine)
process.once('SIGTERM', () => void serving.stop().then(() => process.exit(0)))
