/** Settings of the page and the HTTP API, for documents and for the warning about unknown variables; @q/server reads them. */
import type { Setting } from './setting-parsers.ts'

export const pageSettings: readonly Pick<Setting<unknown>, 'variable' | 'shown' | 'what'>[] = [
  {
    variable: 'Q_ENDPOINT',
    shown: 'the address of its page',
    what: 'the address at which others reach this replica, registered for discovery (`liveReplicas`)',
  },
  { variable: 'Q_HTTP', shown: '`on`', what: 'whether a replica serves the page and the HTTP API; `off`: it does not' },
  {
    variable: 'Q_HTTP_PORT',
    shown: 'first free one from `7780`',
    what: 'the exact port; `0`: any free one',
  },
  {
    variable: 'Q_HTTP_ADDRESS',
    shown: '`127.0.0.1` and `::1`',
    what: 'the address to listen on; an address that other machines can reach needs `Q_HTTP_TOKEN_FILE` or `Q_HTTP_TOKENS_FILE`',
  },
  {
    variable: 'Q_HTTP_ORIGIN',
    shown: '',
    what: 'the address that people use behind a proxy, `https://q.example.com`; with https the cookie is Secure',
  },
  {
    variable: 'Q_HTTP_TOKEN_FILE',
    shown: '`.q/token`',
    what: 'file with the token that has every scope; only its owner may read it',
  },
  {
    variable: 'Q_HTTP_TOKENS_FILE',
    shown: '',
    what: 'file with named tokens, one per line: `name scope sha256`; `q token new --name <name>` adds one',
  },
  {
    variable: 'Q_METRICS_ADDRESS',
    shown: '',
    what: 'separate address for `/metrics` and the three probes, without a token, such as `127.0.0.1:9464`; also works with `Q_HTTP=off`',
  },
  { variable: 'Q_HTTP_READ_ONLY', shown: '', what: '`1`: the server rejects all actions' },
  {
    variable: 'Q_HTTP_HIDE',
    shown: '`password,passwd,passphrase,secret,token,apikey,accesskey,privatekey,credential,authorization,cookie`',
    what: 'the page, the API and `q` hide values of payloads, results and logs if the name of their member contains one of these; `none`: they hide nothing',
  },
  {
    variable: 'Q_HTTP_BADGE',
    shown: '',
    what: 'name and colour of the environment, shown on every page, such as `production #b3261e`',
  },
]
