// sign-up.ts: the code under test; in production q is queue<typeof tasks>(process.env.DATABASE_URL)
import type { Queue } from '@q/client'
import type * as tasks from './tasks.ts'

export async function signUp(q: Queue<typeof tasks>, email: string): Promise<void> {
  await q.enqueue('welcome', { email: email.toLowerCase() })
}
