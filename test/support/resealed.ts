/** A backup as somebody hands it on who has changed it and written its checksums anew. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'

type Parts = Map<string, Buffer>

export async function reseal(
  file: string,
  to: string,
  change: (parts: Parts, manifest: Record<string, unknown>) => void,
) {
  const parts: Parts = new Map()
  const tar = extract()
  tar.end(gunzipSync(await readFile(file)))
  for await (const entry of tar) parts.set(entry.header.name, await buffer(entry))
  const manifest = JSON.parse(String(parts.get('manifest.json'))) as Record<string, unknown>
  parts.delete('manifest.json')
  change(parts, manifest)
  manifest.parts = [...parts].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }))
  parts.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
  const changed = pack()
  for (const [name, bytes] of parts) changed.entry({ name }, bytes)
  changed.finalize()
  await writeFile(to, gzipSync(await buffer(changed)))
}
