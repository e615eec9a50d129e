/** `parley archive`: compares the archive with the database, or rebuilds it. */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { type Caller, local } from '../../../core/access/callers.ts'
import type { Progress, Report } from '../../../core/archive/verifying.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { examples, newCommand, type Open, outJson, withHub } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count } from '../terminal/phrases.ts'
import { withProgress } from '../terminal/progress.ts'
import type { Screen } from '../terminal/screen.ts'

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
    .description('compare the archive with the database; exit code 1 if they differ')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json = false }: { json?: boolean }) =>
      withHub(open, screen, async (hub) => {
        const { folder, verify } = steering()
        const report = await withProgress(screen, 'archive', (progress) => verify(hub, local, progress))
        const { findings, ...counts } = report
        const { length } = findings
        if (json) await outJson(screen, { folder, ...counts, sound: length === 0, findings })
        else await screen.out(told(folder, report))
        if (length === 0) return
        throw new HubError('STORAGE_FAILED', `The archive has ${length === 1 ? 'a fault' : `${length} faults`}.`, {
          hint: '`parley archive rebuild` rebuilds it from the database.',
        })
      }),
    )
  command
    .command('rebuild')
    .description('rebuild the archive from the database; its old Git history is lost')
    .action(() =>
      withHub(open, screen, async (hub) => {
        const { folder, rebuild } = steering()
        let messages = 0
        await withProgress(screen, 'archive', (progress) =>
          rebuild(hub, local, (done, total) => {
            messages = done
            progress(done, total)
          }),
        )
        await screen.out(`${harmlessLine(folder)}: rebuilt, ${count(messages, 'message')}.\n`)
      }),
    )
  return command
}

function told(folder: string, { projects, files, messages, waiting, findings }: Report): string {
  const lines = findings
    .slice(0, mostShown)
    .map(({ project, kind, what, says }) => `${kind}: ${project} ${what} ${says.includes(what) ? `(${says})` : says}`)
  const more = findings.length > mostShown ? [`and ${findings.length - mostShown} more`] : []
  const all = `${count(projects, 'project')}, ${count(messages, 'message')}, ${count(files, 'file')}`
  const verdict = findings.length === 0 ? 'as the database has it' : 'not as the database has it'
  const rest = waiting === 0 ? '' : `; ${count(waiting, 'change')} not archived yet`
  return [...lines, ...more, `${folder}: ${all}: ${verdict}${rest}.`].map((line) => `${harmlessLine(line)}\n`).join('')
}
