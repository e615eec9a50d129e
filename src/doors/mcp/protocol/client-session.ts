/** The session of its client that a call came from. Codex names it with each call; the hooks of that session have the same name. */
import { isRecord } from './json.ts'
import type { Incoming } from './methods.ts'
import type { Service, ToolRow } from './service.ts'

const longest = 200

interface Call<Scope> {
  readonly row: ToolRow<Scope>
  readonly args: unknown
  readonly value: unknown
}

/** Told to the door after a call that succeeded: the session is that of the agent whose call it was. */
export function noteClientSession<Scope>(
  { door }: Service<Scope>,
  { params, exchange }: Incoming<Scope>,
  { row, args, value }: Call<Scope>,
): void {
  const session = isRecord(params._meta) ? params._meta.threadId : undefined
  if (door.fromSession === undefined || typeof session !== 'string' || session === '' || session.length > longest)
    return
  door.fromSession({ client: 'codex', session, tool: row.tool, args: isRecord(args) ? args : {}, value }, exchange)
}
