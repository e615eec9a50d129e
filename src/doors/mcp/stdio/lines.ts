/** Lines of a stream, each whole and none longer than a request may be. */
import type { Readable } from 'node:stream'
import { limits } from '../../../base/limits.ts'

const newline = 0x0a

/** Calls `line` with each line, and with undefined for one that is too long; resolves when the stream has ended. */
export function readLines(stream: Readable, line: (bytes: Buffer | undefined) => void): Promise<void> {
  let parts: Buffer[] = []
  let length = 0
  const add = (part: Buffer) => {
    length += part.length
    if (length <= limits.requestBytes) parts.push(part)
    else parts = []
  }
  const finish = () => {
    const bytes = length > limits.requestBytes ? undefined : Buffer.concat(parts)
    parts = []
    length = 0
    if (bytes === undefined || !isBlank(bytes)) line(bytes)
  }
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        add(chunk.subarray(start, end))
        finish()
        start = end + 1
      }
      add(chunk.subarray(start))
    })
    stream.once('end', () => {
      // The last line need not end in a newline: `printf '{…}' | parley bus`.
      finish()
      resolve()
    })
    stream.once('close', resolve).once('error', () => resolve())
  })
}

/** An empty line says nothing, also one of spaces or of the other half of a line's end. */
const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
