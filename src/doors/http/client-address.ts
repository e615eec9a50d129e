/** The address of a client, for limits: that of its connection, or, where proxies passed it on that the operator trusts, the one they saw. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

export type ClientAddress = (request: IncomingMessage) => string

/** Whether a request comes from a proxy that the operator trusts: then it is believed whom it passes on. */
export type TrustsProxy = (request: IncomingMessage) => boolean

const connected: ClientAddress = ({ socket }) => socket.remoteAddress ?? ''

interface Proxies {
  readonly list: BlockList
  /** Whether those that connect to a Unix socket, which have no address, are trusted. */
  readonly unix: boolean
}

const isAmong = ({ list, unix }: Proxies, address: string): boolean =>
  isIP(address) === 0 ? unix && address === '' : list.check(address, familyOf(address))

/** `trusted`: addresses and networks. From anybody else the header is worth nothing: a client writes there what it likes. */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return connected
  const proxies = listOf(trusted)
  return (request) => {
    const seen = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
    let address = connected(request)
    // Each proxy adds at the end the address that it saw: a trusted one is believed in that, and in no more.
    while (isAmong(proxies, address)) {
      const before = seen.pop()?.trim() ?? ''
      if (isIP(before) === 0) break
      address = before
    }
    return address
  }
}

export function createTrust(trusted: readonly string[]): TrustsProxy {
  if (trusted.length === 0) return () => false
  const proxies = listOf(trusted)
  return (request) => isAmong(proxies, connected(request))
}

function listOf(networks: readonly string[]): Proxies {
  const list = new BlockList()
  for (const network of networks) {
    if (network === 'unix') continue
    const [address = '', prefix] = network.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return { list, unix: networks.includes('unix') }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')
