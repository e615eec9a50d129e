/** The caller that a process of this machine is: the agent of PARLEY_API_KEY, or a local caller. */
import { HubError } from '../base/errors.ts'
import { type Caller, local } from '../core/access/callers.ts'
import { callerOfKey } from '../core/access/keys.ts'
import type { Hub } from '../core/hub/hub.ts'
import type { Config } from '../settings/all.ts'

/** A key that is no longer good is an error: to go on without it would be to act as somebody else. */
export async function ownCaller(hub: Hub, { PARLEY_API_KEY: key }: Config): Promise<Caller> {
  if (key === undefined) return local
  const caller = await callerOfKey(hub, key)
  if (caller !== undefined) return caller
  throw new HubError('UNAUTHENTICATED', 'PARLEY_API_KEY is not the key of any agent here.', {
    hint: 'Give the agent a key with `parley keys create`, or leave the setting out.',
  })
}
