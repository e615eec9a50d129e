/** The address of a client, for limits: that of its connection, or, where proxies passed it on that the operator trusts, the one they saw. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

export type ClientAddress = (request: IncomingMessage) => string

/** `trusted`: addresses and networks. From anybody else the header is worth nothing: a client writes there what it likes. */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const connected: ClientAddress = ({ socket }) => socket.remoteAddress ?? ''
  if (trusted.length === 0) return connected
  const proxies = new BlockList()
  for (const network of trusted) {
    const [address = '', prefix] = network.split('/')
    if (prefix === undefined) proxies.addAddress(address, familyOf(address))
    else proxies.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (request) => {
    const seen = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
    let address = connected(request)
    // Each proxy adds at the end the address that it saw: a trusted one is believed in that, and in no more.
    while (isIP(address) !== 0 && proxies.check(address, familyOf(address))) {
      const before = seen.pop()?.trim() ?? ''
      if (isIP(before) === 0) break
      address = before
    }
    return address
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')
