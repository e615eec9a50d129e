/** The door's own files: read and hashed with the first page, each compressed when it is first asked for; then cached by browsers for ever (web.assets.cached). */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { once } from '../../base/once.ts'

interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: () => Promise<Buffer>
  readonly br: () => Promise<Buffer>
}

export interface Assets {
  /** The address of a file, with the hash of all of them: modules then find each other by their plain names. */
  readonly path: (name: string) => string
  find(hash: string, name: string): Asset | undefined
}

const own = [
  'icons.svg',
  'page.js',
  'live.js',
  'times.js',
  'notify.js',
  'reading.js',
  'rows.js',
  'acting.js',
  'place.js',
  'keys.js',
  'jump.js',
] as const

/** One stylesheet for the browser, in parts for whoever changes it. */
const styles = [
  'base.css',
  'frame.css',
  'lists.css',
  'new.css',
  'board.css',
  'reading.css',
  'forms.css',
  'charts.css',
] as const

/** Files of packages; the build puts them beside our own. */
const libraries: Readonly<Record<string, string>> = {
  'idiomorph.js': 'idiomorph',
  'hotkey.js': '@github/hotkey',
}

/** All that a browser may ask for. */
export const assetNames: readonly string[] = ['style.css', ...own, ...Object.keys(libraries)]

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
}

const read = (name: string): Promise<Buffer> => readFile(new URL(`./assets/${name}`, import.meta.url))

export async function loadAssets(): Promise<Assets> {
  const texts = await Promise.all([
    Promise.all(styles.map(read)).then((parts) => ['style.css', Buffer.concat(parts)] as const),
    ...own.map(async (name) => [name, await read(name)] as const),
    ...Object.entries(libraries).map(
      async ([name, library]) =>
        [name, await read(name).catch(() => readFile(new URL(import.meta.resolve(library))))] as const,
    ),
  ])
  const hash = createHash('sha256')
  for (const [name, text] of texts) hash.update(name).update(text)
  const digest = hash.digest('hex').slice(0, 12)
  const files = new Map(texts.map(([name, plain]) => [name, assetOf(name, plain)]))
  return {
    path: (name) => `/mail/assets/${digest}/${name}`,
    find: (asked, name) => (asked === digest ? files.get(name) : undefined),
  }
}

const assetOf = (name: string, plain: Buffer): Asset => ({
  type: types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
  plain,
  gzip: once(() => promisify(gzip)(plain, { level: 9 })),
  br: once(() => promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })),
})
