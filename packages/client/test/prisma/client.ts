/**
 * A Prisma client without models, put together from Prisma's own runtime: what `prisma generate` makes beside it is types
 * and models, and its program is large. Transactions, raw statements, extensions and the driver adapter are the real ones.
 */
import { getPrismaClient, type ITXClientDenyList } from '@prisma/client/runtime/client'
import type { PrismaPg } from '@prisma/adapter-pg'

/** As in every generated client. */
export interface PrismaClient {
  $connect(): Promise<void>
  $disconnect(): Promise<void>
  $queryRaw<Rows>(query: TemplateStringsArray, ...values: unknown[]): Promise<Rows>
  $queryRawUnsafe<Rows>(query: string, ...values: unknown[]): Promise<Rows>
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>
  $transaction<Result>(work: (tx: TransactionClient) => Promise<Result>): Promise<Result>
  $extends(extension: { readonly client: object }): PrismaClient
}

export type TransactionClient = Omit<PrismaClient, ITXClientDenyList>

interface Options {
  readonly adapter: PrismaPg
  readonly transactionOptions?: { readonly maxWait: number; readonly timeout: number }
}

type Config = Parameters<typeof getPrismaClient>[0]

const compiler = '@prisma/client/runtime/query_compiler_fast_bg.postgresql'
/** Of an empty graph of models: all counts are zero. */
const nothing = 'AAAAAAAAAAA'

const config = {
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: 'none',
  activeProvider: 'postgresql',
  inlineSchema: 'datasource db { provider = "postgresql" }',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: nothing },
  compilerWasm: {
    getRuntime: () => import(`${compiler}.mjs`),
    async getQueryCompilerWasmModule() {
      const { wasm } = (await import(`${compiler}.wasm-base64.mjs`)) as { wasm: string }
      const { Module } = Reflect.get(globalThis, 'WebAssembly') as { Module: new (bytes: Buffer) => object }
      return new Module(Buffer.from(wasm, 'base64'))
    },
    importName: './query_compiler_fast_bg.js',
  },
}

export const PrismaClient = getPrismaClient(config as Config) as unknown as new (options: Options) => PrismaClient
