import { task } from '@q/task'

export default task({ name: 'images.resize' }, () => 1)
export const plain = task(() => 2)
