import { exchangeWork, type WorkExchangeResult } from '@q/store'

export type WholeExchange = Omit<WorkExchangeResult, 'more'> & { readonly more: boolean }

/** An exchange with the answer of its look. */
export async function wholeExchange(...args: Parameters<typeof exchangeWork>): Promise<WholeExchange> {
  const { more, ...answer } = await exchangeWork(...args)
  return { ...answer, more: await more }
}
