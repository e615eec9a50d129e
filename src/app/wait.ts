/** `parley wait`: asks the hooks door until there is mail, time is over, or nobody needs it any more. */
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { clientProcess } from './attach-client.ts'
import { type Ended, numberOf, type Outcome, type Pointer, untilMail, watch } from './waiting.ts'
import { type Around, type Asked, written } from './waker.ts'
import { wakerCalling } from './waker-calling.ts'
import { readPayload } from './waker-input.ts'

/** The client whose hook it is; `plain` for a program or a person. */
type Speech = 'plain' | 'claude' | 'gemini'

/** Claude Code begins a turn for 2. Each end of a turn displaces the waiter before it, which is no failure: 0 says so. */
const exitCodes = {
  plain: { mail: 0, over: 3, displaced: 4, gone: 1 },
  claude: { mail: 2, over: 0, displaced: 0, gone: 0 },
  gemini: { mail: 0, over: 0, displaced: 0, gone: 0 },
} as const satisfies Record<Speech, Record<Ended, number>>

export async function wait(asked: Asked, around: Around): Promise<number> {
  const { options } = asked
  const { env, stderr } = around
  const speech = speechOf(options)
  // Without a window Claude Code waits for its hooks before it sends the prompt, and would wait forever.
  if (speech === 'claude' && (env.CLAUDE_CODE_ENTRYPOINT || 'cli') !== 'cli') return 0
  const payload = speech === 'plain' || typeof options.session === 'string' ? {} : await readPayload(around.stdin)
  const session =
    typeof options.session === 'string'
      ? options.session
      : // The payload of the hook knows it best: a session that was cleared has another one.
        (payload.session_id ?? (speech === 'claude' ? (env.CLAUDE_CODE_SESSION_ID ?? '') : ''))
  const calling = wakerCalling(asked, env, { bySession: session !== '' })
  const seconds = numberOf(options, 'timeout')
  const client = watch(numberOf(options, 'pid') ?? pidOf(speech, env))
  const waiter = {
    ...{ calling, session, payload, lives: client.lives },
    client: speech === 'plain' ? 'wait' : speech,
    until: seconds === undefined ? Number.POSITIVE_INFINITY : systemClock.monotonic() + seconds * 1000,
    follow: options.follow === true,
    tell: (pointer: Pointer) => tell(speech, pointer, around),
    note: (says: string) => (speech === 'plain' ? written(stderr, `${says}\n`) : Promise.resolve(true)),
  }
  return exitCodes[speech][await Promise.race([untilMail(waiter), client.gone])]
}

function speechOf({ for: client, follow }: Asked['options']): Speech {
  if (client === undefined) return 'plain'
  if (client !== 'claude' && client !== 'gemini')
    throw new HubError('INVALID_ARGUMENT', '--for knows only claude and gemini.', {
      hint: 'Leave it out for lines of JSON.',
    })
  if (follow === true)
    throw new HubError('INVALID_ARGUMENT', `--follow and --for ${client} exclude each other.`, {
      hint: 'The client learns of mail by the end of the hook, and waits again at the end of its next turn.',
    })
  return client
}

const pidOf = (speech: Speech, { CLAUDE_PID }: Around['env']): number | undefined =>
  speech === 'plain' ? undefined : (speech === 'claude' && Number(CLAUDE_PID)) || clientProcess()

async function tell(speech: Speech, pointer: Pointer, { stdout, stderr }: Around): Promise<Outcome> {
  const line = speech === 'gemini' ? { decision: 'block', reason: pointer.text } : pointer
  const isRead =
    speech === 'claude'
      ? await written(stderr, `${pointer.text}\n`)
      : await written(stdout, `${JSON.stringify(line)}\n`)
  return isRead ? 'told' : 'gone'
}
