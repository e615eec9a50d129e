/** Settings of the post door: who may register, the codes of connections, and its WebSockets. */
import { flag, seconds, setting } from './kinds.ts'

export const postSettings = {
  REGISTRATION_OPEN: setting({
    default: 'false',
    says: 'Whether anybody who reaches the server may register an agent at the post door. Otherwise callers on this machine may, and those with HTTP_BEARER_TOKEN.',
    parse: flag,
  }),
  CONNECTION_CODE_TTL_SECONDS: setting({
    default: '3600',
    says: 'Seconds for which the verification code of a connection request is good.',
    parse: seconds,
  }),
  CONNECTION_CODE_VISIBLE: setting({
    default: 'true',
    says: 'Whether an agent that is asked for a connection is shown the verification code. With false the code has to reach it through a person and nothing else approves the request; a request without a code is then approved only with the key of the agent that is asked.',
    parse: flag,
  }),
  WS_PING_INTERVAL: setting({
    default: '30',
    says: 'Seconds of silence after which Parley pings a WebSocket.',
    parse: seconds,
  }),
  WS_PING_TIMEOUT: setting({
    default: '60',
    says: 'Seconds of silence after which Parley closes a WebSocket. If that is less than twice WS_PING_INTERVAL, the ping is sent after half of it.',
    parse: seconds,
  }),
} as const
