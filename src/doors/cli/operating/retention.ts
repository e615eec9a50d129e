/** `parley retention`: how much mail there is, which old mail could be moved out, and moving it out. */
import type { Command } from 'commander'
import { nextTurn } from '../../../base/clock.ts'
import { operator } from '../../../core/access/callers.ts'
import { type RetentionRules, type Survey, surveys } from '../../../core/mail/retention-report.ts'
import { applyRetention, type Moving } from '../../../core/transfers/retention-apply.ts'
import { type ProjectPlan, planRetention } from '../../../core/transfers/retention-plan.ts'
import { confirm, examples, newCommand, type Open, outJson, withHub } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, size } from '../terminal/phrases.ts'
import { withProgress } from '../terminal/progress.ts'
import type { Screen } from '../terminal/screen.ts'

export interface Retention {
  readonly rules: Pick<RetentionRules, 'maxAgeDays' | 'ignored' | 'inboxLimit'>
  /** Where the exports go. */
  readonly folder: string
  readonly keep: Moving['keep']
}

interface Options {
  readonly json?: true
  readonly force?: true
}

export function retentionCommand(open: Open, retention: () => Retention, screen: Screen): Command {
  const command = newCommand('retention', screen)
    .description('look after old mail: what there is, what could be moved out, and moving it out')
    .addHelpText('after', examples('retention report', 'retention plan', 'retention apply --force'))
  command
    .command('report')
    .description('how much mail each project holds, how much of it is old, and whose inbox is largest')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json }: Options) =>
      withHub(open, screen, async (hub) => {
        const { rules } = retention()
        const projects: Survey[] = []
        for await (const found of surveys(hub, operator, { ...rules, pause: nextTurn })) projects.push(found)
        if (json) return outJson(screen, { max_age_days: rules.maxAgeDays, projects: projects.map(reportShape) })
        for (const found of projects) await screen.out(reportLines(found, rules.maxAgeDays))
      }),
    )
  command
    .command('plan')
    .description('which mail `apply` would move out, and whose it is; nothing is changed')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json }: Options) =>
      withHub(open, screen, async (hub) => {
        const { rules } = retention()
        const plans: ProjectPlan[] = []
        for await (const plan of planRetention(hub, operator, rules)) plans.push(plan)
        if (json) return outJson(screen, { max_age_days: rules.maxAgeDays, projects: plans.map(planShape) })
        await screen.out(planText(plans, rules.maxAgeDays))
      }),
    )
  command
    .command('apply')
    .description('write that mail into files that `parley import --missing` reads back, then remove it')
    .option('--force', 'do it without asking')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json, force }: Options) =>
      withHub(open, screen, async (hub) => {
        const { rules, folder, keep } = retention()
        let messages = 0
        for await (const plan of planRetention(hub, operator, rules)) {
          messages += plan.messages
          if (!json) await screen.note(planLine(plan))
        }
        if (messages > 0 && !force)
          await confirm(screen, {
            would: `would move ${count(messages, 'message')} out, into files in ${harmlessLine(folder)}`,
            does: `moves ${count(messages, 'message')} out, into files in ${harmlessLine(folder)}`,
            not: 'Nothing was changed.',
          })
        const moved = await withProgress(screen, 'moved out', (progress) =>
          applyRetention(hub, operator, { ...rules, keep, progress: (done) => progress(done, messages) }),
        )
        if (json) return outJson(screen, moved)
        if (moved.messages === 0) return screen.out('There is no mail to move out.\n')
        await screen.out(
          `Moved out ${count(moved.messages, 'message')} in ${count(moved.threads, 'thread')}, into ${count(moved.exports.length, 'file')} in ${harmlessLine(folder)}.\n`,
        )
        await screen.note('`parley import <file> --missing` reads one back.')
      }),
    )
  return command
}

const reportShape = ({ project, agents, messages, oldMessages, unread, attachmentBytes, largest, full }: Survey) => ({
  project,
  agents,
  messages,
  old_messages: oldMessages,
  unread,
  attachment_bytes: attachmentBytes,
  largest_inbox: largest ?? null,
  full_inboxes: full,
})

function reportLines(found: Survey, days: number): string {
  const { project, agents, messages, oldMessages, unread, attachmentBytes, largest, full } = found
  return [
    `${harmlessLine(project)}: ${count(messages, 'message')} of ${count(agents, 'agent')}, ${oldMessages.toLocaleString('en')} older than ${count(days, 'day')}, ${unread.toLocaleString('en')} unread, ${size(attachmentBytes)} of attachments`,
    ...(largest === undefined
      ? []
      : [`  the largest inbox is that of ${harmlessLine(largest.agent)}: ${count(largest.messages, 'message')}`]),
    ...(full > 0 ? [`  ${full === 1 ? '1 inbox is' : `${full} inboxes are`} full`] : []),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

const planShape = ({ project, threads, messages, bytes, fileBytes, senders, held }: ProjectPlan) => ({
  project: project.slug,
  threads,
  messages,
  bytes,
  attachment_bytes: fileBytes,
  senders,
  old_threads_that_stay: held,
})

const planLine = ({ project, threads, messages, bytes, fileBytes }: ProjectPlan): string =>
  `${harmlessLine(project.slug)}: ${count(messages, 'message')} in ${count(threads, 'thread')}, ${size(bytes)} of text and up to ${size(fileBytes)} of attachments`

/** More senders say little. */
const mostShown = 10

function planText(plans: readonly ProjectPlan[], days: number): string {
  const lines = plans.flatMap((plan) => {
    const { senders, held } = plan
    if (plan.messages === 0 && held === 0) return []
    const more = senders.length > mostShown ? [`  and ${count(senders.length - mostShown, 'more sender')}`] : []
    return [
      planLine(plan),
      ...senders
        .slice(0, mostShown)
        .map(({ agent, messages, bytes }) => `  ${harmlessLine(agent)}: ${count(messages, 'message')}, ${size(bytes)}`),
      ...more,
      ...(held > 0
        ? [`  ${count(held, 'old thread')} would stay: somebody has not read or acknowledged a message there`]
        : []),
    ]
  })
  const all = plans.reduce((sum, { messages }) => sum + messages, 0)
  const rest =
    all === 0
      ? [`No mail can be moved out: none older than ${count(days, 'day')} is read and acknowledged, in a quiet thread.`]
      : [
          `\`parley retention apply\` would move ${count(all, 'message')} out. Files leave the archive by a commit; the history of its Git keeps them.`,
        ]
  return [...lines, ...rest].map((line) => `${line}\n`).join('')
}
