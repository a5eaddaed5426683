/** The HTTP server of q: API, live stream and page. */
export { prepareServer, type PageOptions, type PageServer } from './program.ts'
export { tokenPlace } from './auth/token-place.ts'
export { startServer, type Server, type ServerOptions } from './server.ts'
export { readHttpSettings, type HttpSettings } from './settings.ts'
export { readOrMakeToken, replaceToken } from './auth/token-file.ts'
export { addNamedToken, namedTokens, removeNamedToken } from './auth/named-tokens.ts'
export { tokenScopes, type TokenScope } from './auth/scopes.ts'
export { apiRoutes, type ApiKey, type ApiRoutes } from './api/routes.ts'
