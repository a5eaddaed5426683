import { DEFAULT_DATE_PARSER, DEFAULT_NUMERIC_PARSER, generate, getDialect } from 'kysely-codegen'

/** The types of schema q by kysely-codegen; keys are `q.task_run`, names as the database writes them. */
export async function kyselyTypes(url: string): Promise<string> {
  const dialect = getDialect('postgres', { dateParser: DEFAULT_DATE_PARSER, numericParser: DEFAULT_NUMERIC_PARSER })
  const db = await dialect.introspector.connect({ connectionString: url, dialect })
  try {
    return await generate({ db, dialect, includePattern: 'q.*', outFile: null })
  } finally {
    await db.destroy()
  }
}
