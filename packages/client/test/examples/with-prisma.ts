// with-prisma.ts: the tx of an interactive transaction
import { queue } from '@q/client'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from '../prisma/client.ts'
import type * as tasks from './tasks.ts'

const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL! }),
  transactionOptions: { maxWait: 30_000, timeout: 30_000 },
})
const q = queue<typeof tasks>(process.env.DATABASE_URL)

export async function order(item: string): Promise<string> {
  return prisma.$transaction(async (tx) => {
    const [made] = await tx.$queryRaw<{ id: number }[]>`INSERT INTO orders (item) VALUES (${item}) RETURNING id`
    const run = await q.enqueue('receipt', { order: made!.id }, { tx })
    return run.id
  })
}

export const close = () => Promise.all([prisma.$disconnect(), q.close()])
