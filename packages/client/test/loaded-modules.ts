/** Imports the module it is given, and says which files that loaded. */
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load(url, context, nextLoad) {
    loaded.push(url)
    return nextLoad(url, context)
  },
})
await import(process.argv[2] ?? '')
console.log(JSON.stringify(loaded))
