/** The protocol of Redis (RESP 2): a command as bytes, and a reply from them. */

/** A nil reply is null. */
export type Reply = string | number | null | Reply[]

export function encode(command: readonly (string | number)[]): string {
  const parts = command.map(String).map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
  return `*${parts.length}\r\n${parts.join('')}`
}

interface Parsed {
  /** An error is what Redis answered. */
  readonly value: Reply | Error
  readonly end: number
}

/** The reply at `start`, or undefined where it has not come whole; throws where it is none. */
export function parse(bytes: Buffer, start = 0): Parsed | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const [kind, line, end] = [
    bytes.toString('latin1', start, start + 1),
    bytes.toString('utf8', start + 1, lineEnd),
    lineEnd + 2,
  ]
  if (kind === '+') return { value: line, end }
  if (kind === '-') return { value: new Error(`Redis refused it: ${line.slice(0, 100)}`), end }
  const size = Number(line)
  if (!/^[:$*]$/.test(kind) || !Number.isInteger(size)) throw new Error('no reply')
  if (kind === ':') return { value: size, end }
  if (size < 0) return { value: null, end }
  if (kind === '*') return parseList(bytes, size, end)
  const past = end + size + 2
  return bytes.length < past ? undefined : { value: bytes.toString('utf8', end, past - 2), end: past }
}

function parseList(bytes: Buffer, size: number, start: number): Parsed | undefined {
  const value: Reply[] = []
  let end = start
  while (value.length < size) {
    const item = parse(bytes, end)
    if (item === undefined) return undefined
    // No command that is asked here mixes errors into a list.
    if (item.value instanceof Error) throw item.value
    value.push(item.value)
    end = item.end
  }
  return { value, end }
}
