/** The kinds of files that are told apart: by their first bytes, by the extension of a name, by a media type. */

/** Pictures made of pixels, which are converted; SVG is a program that draws, and is never run here. */
export type Raster = 'avif' | 'gif' | 'jpeg' | 'png' | 'tiff' | 'webp'

const rasters: Readonly<Record<Raster, { mediaTypes: readonly string[]; extensions: readonly string[] }>> = {
  avif: { mediaTypes: ['image/avif'], extensions: ['avif'] },
  gif: { mediaTypes: ['image/gif'], extensions: ['gif'] },
  jpeg: { mediaTypes: ['image/jpeg', 'image/jpg', 'image/pjpeg'], extensions: ['jpg', 'jpeg', 'jpe', 'jfif'] },
  png: { mediaTypes: ['image/png', 'image/x-png'], extensions: ['png'] },
  tiff: { mediaTypes: ['image/tiff'], extensions: ['tif', 'tiff'] },
  webp: { mediaTypes: ['image/webp'], extensions: ['webp'] },
}

/** Of files that are kept as they are, by extension. Of several with one media type, the first names a file without a name. */
const others: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  bmp: 'image/bmp',
  css: 'text/css',
  csv: 'text/csv',
  diff: 'text/x-diff',
  gz: 'application/gzip',
  heic: 'image/heic',
  html: 'text/html',
  ico: 'image/x-icon',
  js: 'text/javascript',
  json: 'application/json',
  log: 'text/plain',
  md: 'text/markdown',
  mp4: 'video/mp4',
  patch: 'text/x-diff',
  pdf: 'application/pdf',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  ts: 'text/x-typescript',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

/** `other` is a declared kind that is no picture; undefined is no declaration at all. */
export type Kind = Raster | 'svg' | 'other' | undefined

/** The last part of a name behind a dot, in lower case, where it is one that a file name may safely end with. */
export const extensionOf = (path: string): string | undefined => /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase()

export function kindOfExtension(extension: string | undefined): Kind {
  if (extension === undefined) return undefined
  if (extension === 'svg' || extension === 'svgz') return 'svg'
  return find(({ extensions }) => extensions.includes(extension)) ?? 'other'
}

export function kindOfMediaType(mediaType: string): Kind {
  if (mediaType === 'image/svg+xml') return 'svg'
  return find(({ mediaTypes }) => mediaTypes.includes(mediaType)) ?? 'other'
}

const find = (fits: (raster: (typeof rasters)[Raster]) => boolean): Raster | undefined =>
  (Object.keys(rasters) as Raster[]).find((name) => fits(rasters[name]))

export const mediaTypeOf = (kind: Raster | 'svg'): string =>
  kind === 'svg' ? 'image/svg+xml' : (rasters[kind].mediaTypes[0] ?? '')

export const extensionOfKind = (kind: Raster | 'svg'): string =>
  kind === 'svg' ? 'svg' : (rasters[kind].extensions[0] ?? '')

export const mediaTypeOfExtension = (extension: string | undefined): string =>
  (extension !== undefined && others[extension]) || 'application/octet-stream'

export const extensionOfMediaType = (mediaType: string): string | undefined =>
  Object.keys(others).find((extension) => others[extension] === mediaType)

/** The picture that these bytes begin, whatever they are called. */
export function sniff(bytes: Buffer): Raster | undefined {
  const text = bytes.toString('latin1', 0, 16)
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (/^GIF8[79]a/.test(text)) return 'gif'
  if (/^RIFF[\s\S]{4}WEBP/.test(text)) return 'webp'
  if (/^(II[*+]\0|MM\0[*+])/.test(text)) return 'tiff'
  return /^[\s\S]{4}ftyp(avif|avis)/.test(text) ? 'avif' : undefined
}
