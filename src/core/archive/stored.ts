/** The files that go along with messages, read from the database part by part. */
import type { StoredFile } from '../../archive/blobs.ts'
import { findFile, findPart } from '../../store/messages/attachments.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Attachment } from '../messages/stored-attachments.ts'

/** Each once, the originals of converted images included; `projectId` is the sender's project. */
export function storedFiles(hub: Hub, projectId: number, attachments: readonly Attachment[]): StoredFile[] {
  const paths = attachments.flatMap((one) => [
    ...(one.kind === 'file' ? [one.path] : []),
    ...(one.kind === 'link' || one.original === undefined ? [] : [one.original]),
  ])
  return [...new Set(paths)].map((path) => ({
    path,
    async open() {
      const file = await findFile(reader(hub), projectId, path)
      return file && { size: Number(file.size), parts: partsOf(hub, file.content) }
    },
  }))
}

async function* partsOf(hub: Hub, content: string): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; position++) {
    const part = await findPart(reader(hub), content, position)
    if (part === undefined) return
    yield part
  }
}
