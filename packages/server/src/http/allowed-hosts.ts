/**
 * The host names that this server accepts. An attacker's page can make a browser resolve the attacker's name to this
 * machine (DNS rebinding); its requests then have that name in `Host`.
 */
export interface OwnAddress {
  /** The configured address; undefined: loopback only. */
  readonly address?: string
  readonly port: number
  /** `https://q.example.com`, behind a proxy. */
  readonly origin?: string
}

const loopbackNames = ['127.0.0.1', 'localhost', '::1']

/** Maps each accepted `Host`, in lower case, to the origin that a browser sends for it. */
export function allowedHosts({ address, port, origin }: OwnAddress): ReadonlyMap<string, string> {
  const own = [...loopbackNames, ...(address === undefined ? [] : [address])].flatMap((name): [string, string][] => {
    const { hostname, origin: sent } = new URL(urlOf(name, port))
    return [`${hostname}:${port}`, ...(port === 80 ? [hostname] : [])].map((host) => [host, sent])
  })
  if (origin === undefined) return new Map(own)
  return new Map([...own, [new URL(origin).host, new URL(origin).origin]])
}

/** The address of the server as browsers write it: in lower case, and an IPv6 address shortened and in brackets. */
export function urlOf(address: string, port: number): string {
  return new URL(`http://${address.includes(':') ? `[${address}]` : address}:${port}`).origin
}
