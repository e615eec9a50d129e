/** Pictures for tests, made on the spot. */
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** A drawing of a few areas: small as WebP. */
export const drawing = (width = 64, height = 48) =>
  sharp({ create: { width, height, channels: 3, background: { r: 20, g: 90, b: 160 } } })

/** Noise is as large as WebP as it was before; `seed` makes another one. */
export function noise(width = 320, height = 320, seed = 1) {
  let state = seed
  const bytes = Buffer.alloc(width * height * 3)
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[i] = state >>> 24
  }
  return sharp(bytes, { raw: { width, height, channels: 3 } })
}

export const uriOf = (mediaType: string, bytes: Buffer): string =>
  `data:${mediaType};base64,${bytes.toString('base64')}`

/** A PNG of a few hundred bytes whose head says that it has so many pixels. */
export function bomb(width: number, height: number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const rows = deflateSync(Buffer.alloc(1024))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** An animated GIF of a few hundred bytes with so many pictures of this size. */
export function film({ width, height, pictures }: { width: number; height: number; pictures: number }): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16LE(width, 0)
  size.writeUInt16LE(height, 2)
  const colours = [0, 0, 0, 255, 255, 255]
  const control = [0x21, 0xf9, 4, 0, 10, 0, 0, 0]
  const picture = [0x2c, 0, 0, 0, 0, ...size, 0, 2, 2, 0x44, 1, 0]
  const body = Array.from({ length: pictures }, () => [...control, ...picture]).flat()
  return Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from([0x80, 0, 0, ...colours, ...body, 0x3b])])
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

function crc(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return (sum ^ 0xffffffff) >>> 0
}
