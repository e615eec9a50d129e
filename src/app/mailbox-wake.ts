/** `parley mailbox --bridge` with the token of OpenClaw's hooks alone: its agent is woken by pointers, and fetches the text by a tool. */
import { HubError } from '../base/errors.ts'
import type { Config } from '../settings/all.ts'
import { harmless } from './attach.ts'
import { pushFor } from './attach-push.ts'
import { untilMail } from './waiting.ts'

/** With the token of the gateway too, the bridge hands over whole messages, and a pointer to the same would be one too many. */
export const wakesOnly = ({ OPENCLAW_HOOKS_TOKEN, OPENCLAW_GATEWAY_TOKEN }: Config): boolean =>
  OPENCLAW_HOOKS_TOKEN !== undefined && OPENCLAW_GATEWAY_TOKEN === undefined

/** Until a newer waiter of the agent comes; throws what the server or the gateway refuses. */
export async function wakeOpenclaw(config: Config): Promise<void> {
  const { MAILBOX_SERVER_URL: server, MAILBOX_API_KEY, OPENCLAW_GATEWAY_URL, OPENCLAW_HOOKS_TOKEN } = config
  const push = pushFor('openclaw', { session: '', pid: undefined, env: { OPENCLAW_GATEWAY_URL, OPENCLAW_HOOKS_TOKEN } })
  const ended = await untilMail({
    calling: { server, headers: { authorization: `Bearer ${MAILBOX_API_KEY}` }, named: {} },
    ...{ client: 'openclaw', session: '', payload: {}, until: Number.POSITIVE_INFINITY, follow: true },
    lives: () => true,
    tell: async ({ text }) => (await push?.tell(harmless(text), () => true)) ?? 'gone',
    note: async () => true,
  })
  if (ended === 'displaced')
    throw new HubError('INVALID_ARGUMENT', 'Another program wakes this agent of OpenClaw now.', {
      hint: 'One is enough: `parley mailbox --bridge`, or `parley attach openclaw`.',
    })
}
