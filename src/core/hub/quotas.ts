/** The quotas of inboxes and attachments: how many are near, told once when one comes near, and shown to whoever asks. */
import { countLargeInboxes, listLargeProjects } from '../../store/figures.ts'
import type { Chore } from './chores.ts'
import { type Hub, longReader } from './hub.ts'
import { memory } from './memory.ts'

/** From this share of a quota on it is near. */
export const nearShare = 0.8

/** All inboxes are gone through for it: an inbox does not grow by a fifth within minutes. */
const keptMs = 300_000

export interface QuotaState {
  /** Undefined where there is none. */
  readonly inboxes: { readonly limit: number; readonly near: number; readonly full: number } | undefined
  readonly attachments:
    | {
        readonly limit: number
        /** The projects that are near or at it, the largest first. */
        readonly near: readonly { readonly project: string; readonly bytes: number }[]
      }
    | undefined
}

const kept = memory(() => ({
  at: Number.NEGATIVE_INFINITY,
  state: undefined as Promise<QuotaState> | undefined,
  /** Near at the last look: each is told when it comes near, and not again. */
  inboxes: 0,
  projects: new Set<string>(),
}))

/** As it was within the last minutes. */
export function quotaState(hub: Hub): Promise<QuotaState> {
  const known = kept(hub)
  const now = hub.clock.monotonic()
  if (known.state !== undefined && now - known.at < keptMs) return known.state
  known.at = now
  const state = count(hub)
  known.state = state
  state.catch(() => {
    if (known.state === state) known.state = undefined
  })
  return state
}

/** The log tells of a quota that is near, also while nobody asks. */
export const quotaChore: Chore = {
  name: 'quotas',
  everyMs: keptMs,
  async run(hub) {
    await quotaState(hub)
  },
}

async function count(hub: Hub): Promise<QuotaState> {
  const { inboxQuota, attachments } = hub.rules
  const db = longReader(hub)
  const share = (quota: number): number => Math.ceil(quota * nearShare)
  const inboxes =
    inboxQuota === undefined
      ? undefined
      : { limit: inboxQuota, ...(await countLargeInboxes(db, { near: share(inboxQuota), full: inboxQuota })) }
  const { quotaBytes } = attachments
  const near = quotaBytes === undefined ? [] : await listLargeProjects(db, share(quotaBytes))
  const state = { inboxes, attachments: quotaBytes === undefined ? undefined : { limit: quotaBytes, near } }
  warn(hub, state)
  return state
}

function warn(hub: Hub, { inboxes, attachments }: QuotaState): void {
  const told = kept(hub)
  if (inboxes !== undefined && inboxes.near > told.inboxes)
    hub.log.warn(
      { event: 'quota_near', quota: 'inbox', limit: inboxes.limit, inboxes: inboxes.near, full: inboxes.full },
      'inboxes hold 80 % of their quota or more',
    )
  told.inboxes = inboxes?.near ?? 0
  for (const { project, bytes } of attachments?.near ?? [])
    if (!told.projects.has(project))
      hub.log.warn(
        { event: 'quota_near', quota: 'attachments', limit: attachments?.limit, project, bytes },
        'the attachments of a project take 80 % of their quota or more',
      )
  told.projects = new Set(attachments?.near.map(({ project }) => project))
}
