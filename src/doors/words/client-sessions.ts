/** Binding the session of a client to its agent behind a call: nobody waits for it, and no call fails by it. */
import type { Acting } from '../../core/agents/acting.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { bindSession } from '../../core/presence/binding.ts'
import type { ClientSession } from '../../core/presence/sessions.ts'

export function bindBehind(hub: Hub, acting: Acting | Promise<Acting>, { client, session }: ClientSession): void {
  bind(hub, acting, { client, session }).catch((error: unknown) =>
    hub.log.debug({ err: error, client }, 'a session is not bound to its agent'),
  )
}

async function bind(hub: Hub, acting: Acting | Promise<Acting>, of: ClientSession): Promise<void> {
  const as = await acting
  // A reader leaves no trace.
  if (!as.caller.readOnly) await bindSession(hub, as, of)
}
