/** Settings of `parley mailbox`: the server it is a client of, and the OpenClaw gateway it bridges to. */
import { matching, number, oneOf, optional, parsed, serverUrl, text, visible } from './kinds.ts'

export const mailboxClientSettings = {
  MAILBOX_SERVER_URL: parsed('127.0.0.1:8765', serverUrl).says(
    'Parley server that `parley mailbox` is a client of: `host:port`, or a URL; with https its WebSocket is encrypted too.',
  ),
  MAILBOX_API_KEY: optional(visible).secret(
    'Key of the agent that `parley mailbox` acts as: the `api_key` that `POST /agents/register` or `parley keys create` has shown.',
  ),
  OPENCLAW_GATEWAY_URL: parsed('http://127.0.0.1:18789', serverUrl).says(
    'OpenClaw gateway to which `parley mailbox` delivers new messages.',
  ),
  OPENCLAW_GATEWAY_TOKEN: optional(visible).secret(
    'Token of the OpenClaw gateway. If it is set, `parley mailbox` delivers new messages to the gateway; empty turns the bridge off.',
  ),
  OPENCLAW_HOOKS_TOKEN: optional(visible).secret(
    'Token of the hooks of OpenClaw (`hooks.token` in openclaw.json). With it `parley attach openclaw`, and `parley mailbox --bridge` without `OPENCLAW_GATEWAY_TOKEN`, wake the agent by `/hooks/wake`.',
  ),
  OPENCLAW_SESSION_KEY: text(
    'agent:main:main',
    matching(/^[\x21-\x7e]{1,200}$/, 'must be the key of a session such as agent:main:main'),
  ).says(
    'OpenClaw session that receives messages of new Parley sessions; a Parley session that was delivered to another one before stays with it.',
  ),
  OPENCLAW_REPLY_MODE: oneOf(['tool', 'inline'], 'tool').says(
    'Way in which the OpenClaw agent answers: `tool` hands it the message and lets it answer with the mailbox tools; `inline` waits for its answer and sends it back.',
  ),
  BRIDGE_MAX_TURNS: number(20, { min: 1, max: 10_000 }).says(
    'Most automatic answers in a row that bridges send in one session (`OPENCLAW_REPLY_MODE=inline`). Then the bridge waits for a message that no bridge has sent.',
  ),
}
