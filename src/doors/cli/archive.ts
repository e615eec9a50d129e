/** `parley archive`: compares the archive with the database, or makes it anew. */
import type { Command } from 'commander'
import { HubError } from '../../base/errors.ts'
import { type Caller, local } from '../../core/access/callers.ts'
import type { Progress, Report } from '../../core/archive/verifying.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { examples, newCommand, type Open, withHub } from './commands.ts'
import { harmlessJson, harmlessLine } from './harmless.ts'
import type { Screen } from './screen.ts'

/** What can be done with the archive of this installation. */
export interface ArchiveSteering {
  readonly folder: string
  verify(hub: Hub, caller: Caller, progress: Progress): Promise<Report>
  rebuild(hub: Hub, caller: Caller, progress: Progress): Promise<void>
}

/** More lines say nothing new: a rebuild mends them all. */
const mostShown = 20

export function archiveCommand(open: Open, steering: () => ArchiveSteering, screen: Screen): Command {
  const command = newCommand('archive', screen)
    .description('look after the Git archive of all projects')
    .addHelpText('after', examples('archive verify', 'archive rebuild'))
  command
    .command('verify')
    .description('compare the archive with the database; exit code 1 if something is amiss')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json = false }: { json?: boolean }) =>
      withHub(open, screen, async (hub) => {
        const { folder, verify } = steering()
        const report = await withBar(screen, (progress) => verify(hub, local, progress))
        await screen.out(json ? `${harmlessJson(toAnswer(folder, report))}\n` : told(folder, report))
        const { length } = report.findings
        if (length === 0) return
        throw new HubError('STORAGE_FAILED', `The archive has ${length === 1 ? 'a fault' : `${length} faults`}.`, {
          hint: '`parley archive rebuild` makes it anew from the database.',
        })
      }),
    )
  command
    .command('rebuild')
    .description('make the archive anew from the database; its old history goes')
    .action(() =>
      withHub(open, screen, async (hub) => {
        const { folder, rebuild } = steering()
        let messages = 0
        await withBar(screen, (progress) =>
          rebuild(hub, local, (done, total) => {
            messages = done
            progress(done, total)
          }),
        )
        await screen.out(`${harmlessLine(folder)}: made anew, ${counted(messages, 'message')}.\n`)
      }),
    )
  return command
}

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

function told(folder: string, { projects, files, messages, waiting, findings }: Report): string {
  const lines = findings
    .slice(0, mostShown)
    .map(({ project, kind, what, says }) => `${kind}: ${project} ${what} ${says.includes(what) ? `(${says})` : says}`)
  const more = findings.length > mostShown ? [`and ${findings.length - mostShown} more`] : []
  const all = `${counted(projects, 'project')}, ${counted(messages, 'message')}, ${counted(files, 'file')}`
  const verdict = findings.length === 0 ? 'as the database has it' : 'not as the database has it'
  const rest = waiting === 0 ? '' : `; ${counted(waiting, 'change')} not archived yet`
  return [...lines, ...more, `${folder}: ${all}: ${verdict}${rest}.`].map((line) => `${harmlessLine(line)}\n`).join('')
}

const toAnswer = (folder: string, { findings, ...counts }: Report) => ({
  folder,
  ...counts,
  sound: findings.length === 0,
  findings,
})

/** A bar for a person; a file or a program gets none. */
async function withBar<T>(screen: Screen, work: (progress: Progress) => Promise<T>): Promise<T> {
  let shown = -1
  const draw = (done: number, total: number) => {
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
    if (!screen.tty || percent === shown) return
    shown = percent
    const full = Math.floor(percent / 4)
    void screen.err(
      `\r[${'#'.repeat(full)}${' '.repeat(25 - full)}] ${percent} %, ${done} of ${counted(total, 'message')}`,
    )
  }
  try {
    return await work(draw)
  } finally {
    if (shown >= 0) await screen.err('\r\x1b[K')
  }
}
