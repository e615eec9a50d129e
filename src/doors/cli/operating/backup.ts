/** `parley backup`: the whole store as one file, while servers run. */
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { operator } from '../../../core/access/callers.ts'
import type { Manifest } from '../../../core/backups/manifest.ts'
import { type BackingUp, backUp } from '../../../core/backups/writing.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { newCommand, type Open, outJson, withHub, withJson } from '../commands.ts'
import { notWritten } from '../failures.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, size } from '../terminal/phrases.ts'
import { withProgress } from '../terminal/progress.ts'
import type { Screen } from '../terminal/screen.ts'

type Installation = Pick<BackingUp, 'archives' | 'exports' | 'parley'>

export const backupCommand = (open: Open, installation: () => Installation, screen: Screen): Command =>
  withJson(
    newCommand('backup', screen)
      .description(
        'write the whole store into one file: the database as of one moment, the archives, and exports of old mail; servers may run',
      )
      .argument('<file>', 'the file to write, usually *.tar.gz; only its owner may read it')
      .option('--force', 'overwrite an existing file'),
    'backup parley-monday.tar.gz',
    'restore parley-monday.tar.gz',
  ).action((file: string, { force, json }: { force?: true; json?: true }) =>
    withHub(open, screen, async (hub) => {
      if (existsSync(file) && !force)
        throw new HubError('INVALID_ARGUMENT', `${file} is there already.`, {
          hint: 'Nothing was written. Name another file, or pass --force to overwrite it.',
        })
      const { manifest, bytes } = await writeBackup(hub, { file, installation: installation(), screen })
      const { parts, last_ids: _, ...facts } = manifest
      if (json) return outJson(screen, { file, bytes, ...facts, parts: parts.length })
      await screen.out(`${harmlessLine(file)}: ${size(bytes)}, with ${contents(manifest)}.\n`)
    }),
  )

/** Under another name until it is whole. */
async function writeBackup(
  hub: Hub,
  { file, installation, screen }: { file: string; installation: Installation; screen: Screen },
): Promise<{ manifest: Manifest; bytes: number }> {
  const draft = `${file}.partial`
  const gzip = createGzip({ level: 1 })
  const writing = pipeline(gzip, createWriteStream(draft, { mode: 0o600, flush: true })).catch((error: unknown) => {
    throw notWritten(error, 'No backup was made. Name a file in a folder with enough room that you may write to.')
  })
  // A full disk is told by the next write, or at the end.
  const failed = writing.then(() => new Promise<never>(() => {}))
  failed.catch(() => {})
  const write = async (bytes: Buffer): Promise<void> => {
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), failed])
  }
  try {
    const manifest = await withProgress(screen, 'backup', (progress) =>
      backUp(hub, operator, { ...installation, write, progress }),
    )
    gzip.end()
    await writing
    const { size: bytes } = await stat(draft)
    await rename(draft, file)
    return { manifest, bytes }
  } catch (error) {
    gzip.destroy()
    await writing.catch(() => {})
    await rm(draft, { force: true })
    throw error
  }
}

/** The part of a backup that people count. */
export const contents = ({ counts, archives }: Manifest): string =>
  [
    count(counts.messages ?? 0, 'message'),
    count(counts.agents ?? 0, 'agent'),
    count(counts.projects ?? 0, 'project'),
    count(archives.length, 'archive'),
  ].join(', ')
