/** Pictures made into WebP, one at a time and on a thread of the library's own: nobody else waits for it. */
import type Sharp from 'sharp'
import { HubError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { refused } from './folder.ts'
import type { Raster } from './kinds.ts'

/** Loaded with the first picture: a server that gets none starts without its 20 MB. */
let loaded: Promise<typeof Sharp> | undefined

async function load(): Promise<typeof Sharp> {
  const { default: sharp } = await import('sharp')
  // Pictures come rarely: what it would keep for the next one is memory lost.
  sharp.cache(false)
  // Of several threads the other requests would have fewer processors.
  sharp.concurrency(1)
  return sharp
}

let last: Promise<unknown> = Promise.resolve()

/**
 * A picture in pixels, turned upright and without what its camera noted. One that is cut off, broken or larger than it may
 * be is refused (mail.attach.bomb, mail.attach.whole).
 */
export function toWebp(what: string, bytes: Buffer, kind: Raster): Promise<Buffer> {
  const made = last.then(() => convert(what, bytes, kind))
  last = made.catch(() => undefined)
  return made
}

const quality = 80
/** Of 0 to 6. At 4 the file is a tenth smaller, and takes twice the time. */
const effort = 2
const mostSeconds = 30

async function convert(what: string, bytes: Buffer, kind: Raster): Promise<Buffer> {
  loaded ??= load()
  const sharp = await loaded
  // All pictures of an animation: their pixels count together.
  const options = { limitInputPixels: limits.imagePixels, failOn: 'error', animated: true, autoOrient: true } as const
  try {
    const image = sharp(bytes, options)
    const { format, width, height, pages = 1, pageHeight = height } = await image.metadata()
    if ((format === 'heif' ? 'avif' : format) !== kind) throw lying(what, kind)
    // Read from the head, before anything is unpacked.
    const tall = Math.max(width, pageHeight) > limits.imageSide
    if (tall || width * pageHeight * pages > limits.imagePixels) throw tooManyPixels(what)
    return await image.webp({ quality, effort }).timeout({ seconds: mostSeconds }).toBuffer()
  } catch (error) {
    if (error instanceof HubError || !(error instanceof Error)) throw error
    if (/pixel limit|too large|exceeds/i.test(error.message)) throw tooManyPixels(what)
    throw refused(what, `is no whole ${kind.toUpperCase()} picture`, {
      hint: 'Nothing was sent. It is cut off or broken: make it anew.',
      cause: error,
    })
  }
}

export const lying = (what: string, declared: string): HubError =>
  refused(what, `is called ${declared.toUpperCase()}, and its content is something else`, {
    hint: 'Nothing was sent. Give it the name and type of its content.',
  })

const tooManyPixels = (what: string): HubError =>
  refused(what, `has more than ${limits.imagePixels} pixels, or a side of more than ${limits.imageSide}`, {
    hint: 'Nothing was sent. Scale it down.',
  })
