/** Data URIs: files that stand in the text itself. */

interface DataUri {
  /** In lower case, without parameters. */
  readonly mediaType: string
  readonly bytes: Buffer
}

const mediaTypePattern = /^[a-z0-9][a-z0-9.+-]{0,62}\/[a-z0-9][a-z0-9.+-]{0,62}$/

export const isDataUri = (text: string): boolean => /^data:/i.test(text)

/** The media type that a data URI declares, in lower case; undefined if it is none. */
export function declaredType(uri: string): string | undefined {
  const type = /^data:([^,;]{0,127})[,;]/i.exec(uri)?.[1]?.trim().toLowerCase()
  return type === '' ? 'text/plain' : type
}

/** The content of a data URI, or undefined if it is not well formed. */
export function parseDataUri(uri: string): DataUri | undefined {
  const comma = uri.indexOf(',')
  const mediaType = declaredType(uri)
  if (comma < 0 || mediaType === undefined || !mediaTypePattern.test(mediaType)) return undefined
  const head = uri.slice(0, comma)
  const bytes = /;\s*base64\s*$/i.test(head) ? fromBase64(uri.slice(comma + 1)) : fromText(uri.slice(comma + 1))
  return bytes && { mediaType, bytes }
}

/** Node leaves out what is no base64: a text that was cut or altered would become another file. */
function fromBase64(text: string): Buffer | undefined {
  const plain = text.includes('%') ? fromText(text)?.toString('latin1') : text
  if (plain === undefined || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(plain)) return undefined
  const digits = plain.replace(/=+$/, '').length
  if (digits % 4 === 1 || (plain.length !== digits && plain.length % 4 !== 0)) return undefined
  return Buffer.from(plain, 'base64')
}

function fromText(text: string): Buffer | undefined {
  try {
    return Buffer.from(decodeURIComponent(text))
  } catch {
    return undefined
  }
}

export const toDataUri = (mediaType: string, bytes: Buffer): string =>
  `data:${mediaType};base64,${bytes.toString('base64')}`
