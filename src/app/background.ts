/** The work that a server does beside its calls: presence, the search index, counts, housekeeping. */
import { keepChores } from '../core/hub/chores.ts'
import type { Hub } from '../core/hub/hub.ts'
import { keepExpiring } from '../core/mail/expiry.ts'
import { keepOffering } from '../core/mail/shared.ts'
import { fileAll } from '../core/messages/filing.ts'
import { keepGuard } from '../core/messages/loops.ts'
import { keepCounting } from '../core/pages/activity-counts.ts'
import { keepRelating } from '../core/pages/find-related.ts'
import { keepPresence } from '../core/presence/presence.ts'
import { keepSessions } from '../core/presence/sessions.ts'
import { keepSearchable } from '../core/search/projection.ts'
import { finishRemovals } from '../core/topics/removal.ts'
import type { Config } from '../settings/all.ts'
import { choresOf } from './housekeeping.ts'

/** Starts the background work of a server; each returned function ends one piece of it. */
export function startBackground(hub: Hub, config: Config) {
  // Deletions that were cut off go on; nobody waits for them.
  finishRemovals(hub).catch((error: unknown) => hub.log.warn({ err: error }, 'a deleted topic is not gone yet'))
  void fileAll(hub)
  return [
    keepPresence(hub, { listens: true }),
    keepSessions(hub),
    keepGuard(hub),
    keepSearchable(hub),
    keepExpiring(hub),
    keepCounting(hub),
    keepRelating(hub),
    keepOffering(hub),
    keepChores(hub, choresOf(config)),
  ]
}
