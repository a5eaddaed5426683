/** As a web app has it: the types of the tasks, and none of their code. */
import { queue, type Queue } from '@q/client'
import type * as tasks from './tasks.ts'

export const open = (url: string): Queue<typeof tasks> => queue<typeof tasks>(url)
