/** Memory that git's objects take until they are written. */
import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { deflated } from './objects.ts'

test('A deflated text holds no more memory than the text itself', () => {
  for (const length of [10, 119, 120, 500, 4000]) {
    const content = Buffer.alloc(length, 'The build is green again. ')
    const packed = deflated(content)
    expect(inflateSync(packed)).toEqual(content)
    expect(packed.buffer.byteLength).toBeLessThanOrEqual(Math.max(Buffer.poolSize, length + 64))
  }
})
