/**
 * The number of finished runs in the table whose plans are checked: `Q_PLAN_ROWS`. In a small table every plan is cheap,
 * so the tests would pass whatever the statements do.
 */
const least = 20_000

export const planRows: number = planRowsOf(process.env['Q_PLAN_ROWS'] ?? '250000')

export function planRowsOf(text: string): number {
  const rows = Number(text)
  if (/^\d+$/.test(text) && rows >= least) return rows
  throw new Error(`Q_PLAN_ROWS=${text} must be a whole number of at least ${least}.`)
}
