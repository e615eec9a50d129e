/** A backup as somebody hands it on who has changed it and written its checksums anew. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readTar, tarEnd, tarHeader, tarPadding } from '../../src/base/tar.ts'

type Parts = Map<string, Buffer>

export async function reseal(
  file: string,
  to: string,
  change: (parts: Parts, manifest: Record<string, unknown>) => void,
) {
  const parts: Parts = new Map()
  async function* whole() {
    yield gunzipSync(await readFile(file))
  }
  for await (const { name, body } of readTar(whole())) parts.set(name, await buffer(body()))
  const manifest = JSON.parse(String(parts.get('manifest.json'))) as Record<string, unknown>
  parts.delete('manifest.json')
  change(parts, manifest)
  manifest.parts = [...parts].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }))
  parts.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
  const pieces = [...parts].flatMap(([name, bytes]) => [
    tarHeader(name, bytes.length, 0),
    bytes,
    tarPadding(bytes.length),
  ])
  await writeFile(to, gzipSync(Buffer.concat([...pieces, tarEnd])))
}
