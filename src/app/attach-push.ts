/** The ways into clients that have no waiter of their own: the queue of Codex, the hooks of OpenClaw, keys in tmux. */
import { execFile } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { pause, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { createIds } from '../base/ids.ts'
import { Backoff } from '../doors/mailbox-client/backoff.ts'
import { ask } from './asking.ts'
import { tmuxPush } from './attach-tmux.ts'
import type { Outcome } from './waiting.ts'
import type { Around } from './waker.ts'

export interface Push {
  /** Brings a pointer into the client. It gives up before the hub gives the mail to another route, after 30 s. */
  tell(text: string, lives: () => boolean): Promise<Outcome>
  /** When the client may take one again. */
  ready?(lives: () => boolean): Promise<unknown>
}

interface Client {
  readonly session: string
  readonly pid: number | undefined
  readonly env: Around['env']
}

/** Undefined where there is no way. */
export function pushFor(name: string, client: Client): Push | undefined {
  if (name === 'codex') return client.session === '' ? undefined : codexPush(client)
  if (name === 'openclaw') return openclawPush(client.env)
  // The pane of a window is in its environment.
  const { TMUX: tmux, TMUX_PANE: pane } = client.env
  return tmux && pane && /^%\d+$/.test(pane) ? tmuxPush(name, pane) : undefined
}

const queueMs = 8000
const queueTries = 3

/** Never by keys: the daemon has the environment of its first window, and with it a pane that is perhaps another's. */
function codexPush({ session, pid }: Client): Push {
  const args = (text: string) => ['queue', '--thread', session, '--message', text]
  const queue = (text: string): Promise<boolean> =>
    new Promise((resolve) => {
      execFile(codexProgram(pid), args(text), { timeout: queueMs }, (error) => resolve(error === null))
    })
  return {
    async tell(text, lives) {
      for (let tries = 1; lives(); tries++) {
        if (await queue(text)) return 'told'
        // Its daemon begins anew, or the thread was archived: the mail is told by the next route.
        if (tries >= queueTries) return 'returned'
        await pause(500 * tries)
      }
      return 'gone'
    },
  }
}

/** The program of the running daemon itself: the one on the PATH is a script that starts Node first. */
function codexProgram(pid: number | undefined): string {
  try {
    const file = readlinkSync(`/proc/${pid}/exe`)
    if (/^codex/.test(basename(file))) return file
  } catch {
    // Not Linux.
  }
  return 'codex'
}

const wakeMs = 8000
const wakeTries = 3

function openclawPush({ OPENCLAW_GATEWAY_URL: url, OPENCLAW_HOOKS_TOKEN: token }: Around['env']): Push {
  if (!url || !token)
    throw new HubError('INVALID_ARGUMENT', 'OpenClaw is reached by OPENCLAW_GATEWAY_URL and OPENCLAW_HOOKS_TOKEN.', {
      hint: 'Set both: the token is that of "hooks" in openclaw.json, which is not the one of the gateway.',
    })
  const target = `${url.replace(/\/+$/, '')}/hooks/wake`
  const headers = { authorization: `Bearer ${token}` }
  return {
    async tell(text, lives) {
      const backoff = new Backoff(createIds(systemClock), { firstMs: 500, longestMs: 2000 })
      for (let tries = 1; lives(); tries++) {
        const asking = { headers, body: { text, mode: 'now' }, patienceMs: wakeMs }
        const { status } = await ask(target, asking).catch(() => ({ status: 0 }))
        if (status >= 200 && status < 300) return 'told'
        if (status === 401 || status === 403)
          throw new HubError('FORBIDDEN', `OpenClaw at ${url} does not take this token.`, {
            hint: 'OPENCLAW_HOOKS_TOKEN is the token of "hooks" in openclaw.json, which is not the one of the gateway.',
          })
        if (tries >= wakeTries) return 'returned'
        await pause(backoff.next())
      }
      return 'gone'
    },
  }
}
