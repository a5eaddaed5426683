/** Safe JSON data. Does not import the database, so that worker threads can load it. */
export { checkJson, type CheckedJson } from './check.ts'
export { InexactInteger, parseExactJson } from './exact.ts'
export { repairJson, type RepairedJson } from './repair.ts'
export { jsonLimits, jsonReasons, problemsText, type JsonLimits, type JsonProblem, type JsonReason } from './problem.ts'
export { checkName, type NameKind } from './names.ts'
export { storableText } from './text.ts'
export { causesOf, causesText, type Causes, type ErrorData } from './error-causes.ts'
