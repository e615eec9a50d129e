/** The column beside every page: how much needs a person, answers to people, the projects and the newest threads. */
import type { Caller } from '../access/callers.ts'
import type { Hub } from '../hub/hub.ts'
import { keep } from './kept.ts'
import { readNeeds } from './needs.ts'
import { listAnswers } from './person-answers.ts'
import { listPageProjects } from './projects.ts'
import { listAllThreads } from './unified-inbox.ts'

const most = { projects: 12, threads: 8 } as const

/** `mark`: of the end of the feed, where a column that was read at it may be shown. */
export function readFrame(hub: Hub, caller: Caller, { mark }: { readonly mark: string | undefined }) {
  return keep(hub, caller, { name: 'frame', mark }, async () => {
    const [answers, { count }, projects, threads] = await Promise.all([
      listAnswers(hub, caller),
      readNeeds(hub, caller, { mark }),
      listPageProjects(hub, caller, { limit: most.projects }),
      listAllThreads(hub, caller, { limit: most.threads }),
    ])
    return { answers, needs: count, projects, threads }
  })
}
