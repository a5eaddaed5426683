/** Holds the sources against the rules of the house (boundaries/rules.ts): `file:line rule — reason`, exit 1. */
import { scriptOptions } from '../packages/schema/src/script-options.ts'
import { rules } from './boundaries/rules.ts'
import { readTree } from './boundaries/source-tree.ts'
import { violations } from './boundaries/violations.ts'
import { workspace } from './workspace.ts'

scriptOptions('check-boundaries', {})
const found = violations(await readTree(workspace), rules)
for (const { path, line, rule, reason } of found) console.log(`${path}:${line} ${rule} — ${reason}`)
console.log(found.length === 0 ? `${rules.length} rules hold` : `${found.length} violations`)
process.exitCode = found.length === 0 ? 0 : 1
