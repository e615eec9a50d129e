/** Steering the archive: comparing it with the database, and making it anew. */
import { join } from 'node:path'
import { type Archive, isAllShown, projectFolders } from '../../archive/archive.ts'
import { type Fault, Inspection } from '../../archive/inspection.ts'
import { pause } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { listPending } from '../../store/feed/changes.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { jobName, rebuildOutside } from '../feed/outside-projections.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type JobLease, newHolder, renewDuring, takeJobLease, waitForJobLease } from '../hub/job-leases.ts'
import { commitsOf } from './composing.ts'
import { archiveFollower, followerName, type Progress } from './follower.ts'
import { everything } from './rebuilding.ts'

export type { Progress } from './follower.ts'

interface Finding extends Fault {
  readonly project: string
}

export interface Report {
  readonly projects: number
  readonly files: number
  readonly messages: number
  /** Changes that are not archived yet, which is no fault. */
  readonly waiting: number
  readonly findings: readonly Finding[]
}

const lookEveryMs = 200
const shownMs = 10_000

async function untilDone(hub: Hub, archive: Archive, work: () => Promise<boolean>): Promise<void> {
  if (await waitForJobLease(hub, jobName(followerName(archive.owner.id)), work)) return
  throw new HubError('DB_BUSY', 'Another process is still writing the archive.', {
    hint: 'Nothing was changed. Wait until it is done, or stop the server, and call it again.',
  })
}

/** Nothing is archived meanwhile: the archive stands still. */
export async function verifyArchive(
  hub: Hub,
  caller: Caller,
  archive: Archive,
  progress: Progress = () => {},
): Promise<Report> {
  needSteering(caller)
  const { signal } = new AbortController()
  const taking = { name: jobName(followerName(archive.owner.id)), holder: newHolder(hub), everyMs: 0, signal }
  let report: Report | undefined
  await untilDone(hub, archive, () =>
    takeJobLease(hub, taking, async (job) => {
      report = await compare(hub, archive, job, progress)
    }),
  )
  return report as Report
}

async function compare(hub: Hub, archive: Archive, job: JobLease, progress: Progress): Promise<Report> {
  const { place } = archive
  if (place === undefined)
    throw new HubError('NOT_FOUND', 'There is no complete archive to verify.', {
      hint: '`parley serve` makes it when it starts; `parley archive rebuild` makes it now.',
    })
  // A server checks the files out a moment after it has committed them, without the job lease.
  for (let waited = 0; waited < shownMs && !isAllShown(archive.folder); waited += lookEveryMs) await pause(lookEveryMs)
  const inspections = new Map<string, Inspection>()
  const open = async (slug: string): Promise<Inspection> => {
    const known = inspections.get(slug) ?? (await renewDuring(job, Inspection.open(join(archive.folder, slug))))
    inspections.set(slug, known)
    return known
  }
  const findings: Finding[] = []
  /** Files of several messages are compared once. */
  const compared = new Set<string>()
  let [files, messages] = [0, 0]
  for await (const { commits, done, total } of everything(hub, undefined)) {
    await job.renew()
    messages = done
    for (const [project, list] of commits) {
      const inspection = await open(project)
      for (const { path, text } of list.flatMap((commit) => commit.files)) {
        files++
        const fault = inspection.compare(path, text)
        if (fault !== undefined) findings.push({ project, ...fault })
      }
      for (const file of list.flatMap(({ stored = [] }) => stored)) {
        const name = `${project}/${file.path}`
        if (compared.has(name)) continue
        compared.add(name)
        files++
        await job.renew()
        const fault = await inspection.compareStored(file)
        if (fault !== undefined) findings.push({ project, ...fault })
      }
    }
    progress(done, total)
  }
  for (const slug of projectFolders(archive.folder)) {
    await job.renew()
    const inspection = await open(slug)
    if (!inspection.exists) continue
    const faults = [...inspection.extra(), ...(await renewDuring(job, inspection.unknown(archive.owner.id)))]
    findings.push(...faults.map((fault) => ({ project: slug, ...fault })))
  }
  const pending = await listPending(reader(hub), place)
  const { written, leaving } = await stillToCome(hub, pending)
  const faults = findings.filter(
    ({ project, kind, what }) => !written.has(`${project}/${what}`) && !(kind === 'extra' && leaving.has(project)),
  )
  return { projects: inspections.size, files, messages, waiting: pending.length, findings: faults }
}

/** The files that the changes after the archive's place will write, and the projects that files of a topic will leave. */
async function stillToCome(hub: Hub, pending: Awaited<ReturnType<typeof listPending>>) {
  const [written, leaving] = [new Set<string>(), new Set<string>()]
  for (const [project, list] of await commitsOf(hub, pending))
    for (const { files, stored = [], removed = [], forgets } of list) {
      for (const path of [...[...files, ...stored].map(({ path }) => path), ...removed])
        written.add(`${project}/${path}`)
      if (forgets !== undefined) leaving.add(project)
    }
  return { written, leaving }
}

/** Makes the archive anew from the tables. The history before is gone with it. */
export async function rebuildArchive(
  hub: Hub,
  caller: Caller,
  archive: Archive,
  progress: Progress = () => {},
): Promise<void> {
  needSteering(caller)
  const { signal } = new AbortController()
  const follower = archiveFollower(hub, { archive, progress })
  const holder = newHolder(hub)
  await untilDone(hub, archive, () => rebuildOutside(hub, follower, { holder, signal }))
}
