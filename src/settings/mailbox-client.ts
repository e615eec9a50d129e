/** Settings of `parley mailbox`: the server it is a client of, and the OpenClaw gateway it bridges to. */
import { number, oneOf, optional, setting } from './kinds.ts'

/** The address of a server as a URL without a slash at its end: `host:port`, or a URL of http or https. */
function serverUrl(raw: string): string {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(raw) ? raw : `http://${raw}`
  const url = URL.parse(written)
  const plain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === ''
  if (!plain) throw new Error('must be host:port, or a URL of http or https without a query')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** Goes into a header as it is. */
function secretText(raw: string): string | undefined {
  if (raw !== '' && !/^[\x21-\x7e]+$/.test(raw)) throw new Error('must be visible ASCII characters without spaces')
  return optional(raw)
}

export const mailboxClientSettings = {
  MAILBOX_SERVER_URL: setting({
    default: '127.0.0.1:8765',
    says: 'Parley server that `parley mailbox` is a client of: `host:port`, or a URL; with https its WebSocket is encrypted too.',
    parse: serverUrl,
  }),
  MAILBOX_API_KEY: setting({
    default: '',
    says: 'Key of the agent that `parley mailbox` acts as: the `api_key` that `POST /agents/register` or `parley keys create` has shown.',
    secret: true,
    parse: secretText,
  }),
  OPENCLAW_GATEWAY_URL: setting({
    default: 'http://127.0.0.1:18789',
    says: 'Gateway of OpenClaw that `parley mailbox` brings new messages to.',
    parse: serverUrl,
  }),
  OPENCLAW_GATEWAY_TOKEN: setting({
    default: '',
    says: 'Token of the OpenClaw gateway. With it `parley mailbox` brings new messages to the gateway; empty means that it does not.',
    secret: true,
    parse: secretText,
  }),
  OPENCLAW_SESSION_KEY: setting({
    default: 'agent:main:main',
    says: 'OpenClaw session that messages of new Parley sessions are brought to; a Parley session that was brought to one before stays with it.',
    parse: (raw) => {
      if (!/^[\x21-\x7e]{1,200}$/.test(raw)) throw new Error('must be the key of a session such as agent:main:main')
      return raw
    },
  }),
  OPENCLAW_REPLY_MODE: setting({
    default: 'tool',
    says: 'The way in which the OpenClaw agent answers: `tool` hands it the message and lets it answer with the mailbox tools; `inline` waits for its answer and sends it back.',
    parse: oneOf('tool', 'inline'),
  }),
  BRIDGE_MAX_TURNS: setting({
    default: '20',
    says: 'Most answers in a row that bridges send in one session by themselves (`OPENCLAW_REPLY_MODE=inline`). Then the bridge waits until a message comes that no bridge has sent.',
    parse: number({ min: 1, max: 10_000 }),
  }),
} as const
