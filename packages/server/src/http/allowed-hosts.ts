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

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']

/** Maps each accepted `Host` to the origin that a browser sends for it. */
export function allowedHosts({ address, port, origin }: OwnAddress): ReadonlyMap<string, string> {
  const names = [...loopbackNames, ...(address === undefined ? [] : [address.includes(':') ? `[${address}]` : address])]
  const own = names.flatMap((name): [string, string][] => [
    [`${name}:${port}`, `http://${name}:${port}`],
    ...(port === 80 ? [[name, `http://${name}`] as [string, string]] : []),
  ])
  if (origin === undefined) return new Map(own)
  return new Map([...own, [new URL(origin).host, new URL(origin).origin]])
}
