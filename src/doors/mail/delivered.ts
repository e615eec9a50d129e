/** Mail whose text goes out in an answer: it counts as delivered once the answer is with the client. */
import type { Acting } from '../../core/agents/acting.ts'
import { findSelf } from '../../core/agents/connection.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { noteDelivered } from '../../core/mail/delivered.ts'
import type { MailMessage } from '../../core/mail/messages.ts'
import type { CallContext } from '../mcp/table.ts'
import { acting } from './fields.ts'
import type { MailScope } from './scope.ts'

type Context = CallContext<MailScope>
type Texts = readonly Pick<MailMessage, 'id' | 'body'>[]

export function noteTexts(hub: Hub, context: Context, who: Acting, messages: Texts): void {
  const ids = messages.filter(({ body }) => body !== undefined).map(({ id }) => id)
  context.whenOut(() => noteDelivered(hub, who, ids, context.scope.run !== undefined))
}

/** The same where the call names nobody: the agent is the one that the connection says. */
export async function noteTextsToSelf(hub: Hub, context: Context, project: string, messages: Texts): Promise<void> {
  const { name, project: home = project } = await findSelf(hub, context.caller, { name: context.scope.name })
  if (name !== undefined) noteTexts(hub, context, acting(context, home, name), messages)
}
