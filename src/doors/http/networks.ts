/** The network of an address: one subscriber has a whole /64 of IPv6, so its addresses count as one. */
import { isIPv6 } from 'node:net'

/** `2001:db8::7` is of `2001:db8:0:0::/64`; an IPv4 address stands for itself, however it is written. */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return plain
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = plain.split('::')
  const [front, back] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const dotted = back.at(-1)?.includes('.') ? 1 : 0
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length - dotted
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
