/** Tasks that replicas have published. */
import { z } from 'zod'
import { listOf, onCrash } from './fields.ts'
import { routes } from './route.ts'

const publishedTask = z.object({
  name: z.string(),
  queue: z.string(),
  onCrash: onCrash.nullable(),
  publishedBy: z.string().describe('Id of the node that published it last.'),
  options: z.record(z.string(), z.unknown()),
  payloadSchema: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('JSON Schema of the payload, where there is one.'),
})
export type PublishedTask = z.infer<typeof publishedTask>

export const taskRoutes = routes({
  'GET /api/tasks': { scope: 'read', summary: 'All published tasks.', answer: listOf(publishedTask) },
})
