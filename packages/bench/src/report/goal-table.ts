/** The table of goals, filled from one run. */
import { goals, goalResult, type PerformanceGoal } from './goals.ts'
import { digits, medianAndRange, markdownTable } from './numbers.ts'
import type { Samples } from './samples.ts'
import { spreadOf } from './statistics.ts'

export function goalTable(samples: Samples): string {
  const rows = goals.map((goal) => {
    const spread = spreadOf(goal.values(samples))
    const { measure, unit, floor, goal: aim } = goal
    const limits = [floor, aim].map((limit) => `${goal.better === 'more' ? '≥' : '≤'} ${limit} ${unit}`.trim())
    return [measure, ...limits, medianAndRange(spread), sentence(goal, spread.median)]
  })
  return markdownTable(['measure', 'floor', 'goal', 'median [range]', 'verdict'], rows)
}

/** The result, with the shortfall. */
function sentence(goal: PerformanceGoal, median: number): string {
  const result = goalResult(goal, median)
  switch (result) {
    case 'goal met':
    case 'not measured':
      return result
    case 'floor met':
      return `floor met; goal missed by ${shortfall(median, goal.goal)}`
    case 'not met':
      return `**not met**: floor missed by ${shortfall(median, goal.floor)}, goal by ${shortfall(median, goal.goal)}`
  }
}

function shortfall(median: number, limit: number): string {
  if (limit === 0) return digits(median)
  return `${Math.max(1, Math.round((Math.abs(median - limit) / limit) * 100))} %`
}
