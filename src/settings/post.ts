/** Settings of the post door: who may register, the codes of connections, and its WebSockets. */
import { flag, seconds } from './kinds.ts'

export const postSettings = {
  REGISTRATION_OPEN: flag(false).says(
    'Whether anybody who reaches the server may register an agent at the post door. Otherwise callers on this machine may, and those with HTTP_BEARER_TOKEN.',
  ),
  CONNECTION_CODE_TTL_SECONDS: seconds(3600).says(
    'Seconds for which the verification code of a connection request is good.',
  ),
  CONNECTION_CODE_VISIBLE: flag(true).says(
    'Whether an agent that is asked for a connection is shown the verification code. With false a person must pass the code on, and nothing else approves the request; a request without a code is then approved only with the key of the agent that is asked.',
  ),
  WS_PING_INTERVAL: seconds(30).says('Seconds of silence after which Parley pings a WebSocket.'),
  WS_PING_TIMEOUT: seconds(60).says(
    'Seconds of silence after which Parley closes a WebSocket. If that is less than twice WS_PING_INTERVAL, the ping is sent after half of it.',
  ),
}
