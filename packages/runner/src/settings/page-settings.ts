/** Settings of the page and the HTTP API, for documents and for the warning about unknown variables; @q/server reads them. */
import type { Setting } from './setting-parsers.ts'

export const pageSettings: readonly Pick<Setting<unknown>, 'variable' | 'shown' | 'what'>[] = [
  {
    variable: 'Q_ENDPOINT',
    shown: 'the address of its page',
    what: 'where others reach this replica, registered for discovery (`liveReplicas`)',
  },
  { variable: 'Q_HTTP', shown: '`on`', what: 'whether a replica serves the page and the HTTP API; `off`: it does not' },
  {
    variable: 'Q_HTTP_PORT',
    shown: 'first free one from `7780`',
    what: 'the port, exactly; `0`: any free one',
  },
  {
    variable: 'Q_HTTP_ADDRESS',
    shown: '`127.0.0.1` and `::1`',
    what: 'the address to listen on; one that others can reach needs `Q_HTTP_TOKEN_FILE` or `Q_HTTP_TOKENS_FILE`',
  },
  {
    variable: 'Q_HTTP_ORIGIN',
    shown: '',
    what: 'the address that people use behind a proxy, `https://q.example.com`; with https the cookie is Secure',
  },
  {
    variable: 'Q_HTTP_TOKEN_FILE',
    shown: '`.q/token`',
    what: 'file with the token that has every right; only its owner may read it',
  },
  {
    variable: 'Q_HTTP_TOKENS_FILE',
    shown: '',
    what: 'file with named tokens, a line each: `name scope sha256`; `q token new` adds one',
  },
  {
    variable: 'Q_METRICS_ADDRESS',
    shown: '',
    what: 'a port of its own for `/metrics` and the three probes, without a token, `127.0.0.1:9464`; works with `Q_HTTP=off` too',
  },
  { variable: 'Q_HTTP_READ_ONLY', shown: '', what: '`1`: the server accepts no actions' },
  {
    variable: 'Q_HTTP_HIDE',
    shown: '`password,passwd,passphrase,secret,token,apikey,accesskey,privatekey,credential,authorization,cookie`',
    what: 'values of payloads, results and logs are hidden on the page, in the API and by `q` if the name of their member contains one of these; `none`: nothing is',
  },
  {
    variable: 'Q_HTTP_BADGE',
    shown: '',
    what: 'name and colour of the environment, shown on every page: `production #b3261e`',
  },
]
