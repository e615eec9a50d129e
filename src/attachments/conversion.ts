/** The process of images.ts: it takes pictures, one after the other, and answers with WebP. */
import { constants, setPriority } from 'node:os'
import type Sharp from 'sharp'
import type { Raster } from './kinds.ts'

/** To the process. */
export interface Question {
  readonly bytes: Uint8Array
  readonly kind: Raster
  /** How many a picture may have, with all pictures of an animation. */
  readonly pixels: number
  readonly side: number
}

/** From the process. */
export type Answer =
  | { readonly webp: Uint8Array }
  | { readonly fault: 'lying' | 'pixels' | 'broken' | 'no-library'; readonly why?: string }

const quality = 80
/** Of 0 to 6. At 4 the file is a tenth smaller, and takes twice the time. */
const effort = 2
const mostSeconds = 30

// A picture may wait for a second; the server, which all others wait for, goes first. Threads started later inherit the priority.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

/** An optional package of 20 MB: `npm install --omit=optional` leaves it out. */
const library: Promise<typeof Sharp | undefined> = import('sharp').then(
  ({ default: sharp }) => {
    // Pictures come rarely: what it would keep for the next one is memory lost.
    sharp.cache(false)
    // Of several threads the server would have fewer processors.
    sharp.concurrency(1)
    return sharp
  },
  () => undefined,
)

async function convert({ bytes, kind, pixels, side }: Question): Promise<Answer> {
  const sharp = await library
  if (sharp === undefined) return { fault: 'no-library' }
  // All pictures of an animation: their pixels count together.
  const options = { limitInputPixels: pixels, failOn: 'error', animated: true, autoOrient: true } as const
  try {
    const image = sharp(bytes, options)
    const { format, width, height, pages = 1, pageHeight = height } = await image.metadata()
    if ((format === 'heif' ? 'avif' : format) !== kind) return { fault: 'lying' }
    // Read from the head, before anything is unpacked.
    if (Math.max(width, pageHeight) > side || width * pageHeight * pages > pixels) return { fault: 'pixels' }
    return { webp: await image.webp({ quality, effort }).timeout({ seconds: mostSeconds }).toBuffer() }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { fault: /pixel limit|too large|exceeds/i.test(why) ? 'pixels' : 'broken', why }
  }
}

process.on('message', (question: Question) => {
  // A parent that is gone waits for no picture.
  void convert(question)
    .then((answer) => process.send?.(answer))
    .catch(() => process.exit(1))
})
