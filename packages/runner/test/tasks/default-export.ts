import { task } from '@q/task'

export default task((payload: unknown) => payload)
