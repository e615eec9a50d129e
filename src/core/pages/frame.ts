/** The column beside every page: how much needs a person, answers to people, the projects and the newest threads. */
import { listPeopled } from '../../store/pages/projects.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keep } from './kept.ts'
import { readNeedLines } from './needs.ts'
import { pageOf } from './page-message.ts'
import { listAnswers } from './person-answers.ts'
import { listNewestThreads } from './unified-inbox.ts'

const most = { projects: 12, threads: 8 } as const

/** Every page reads it anew after a change: it asks for no more than it shows. `mark`: of the end of the feed, where a column that was read at it may be shown. */
export function readFrame(hub: Hub, caller: Caller, { mark }: { readonly mark: string | undefined }) {
  return keep(hub, caller, { name: 'frame', mark }, async () => {
    const [answers, needs, projects, threads] = await Promise.all([
      listAnswers(hub, caller),
      readNeedLines(hub, caller, { mark }),
      listPeopled(reader(hub), { only: homeOf(caller), limit: most.projects + 1 }),
      listNewestThreads(hub, caller, { limit: most.threads }),
    ])
    return {
      answers,
      needs: { count: needs.count, more: needs.more },
      projects: pageOf(projects, most.projects, ({ id }) => id),
      threads,
    }
  })
}
