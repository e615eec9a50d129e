/** Keys in tmux: a pointer is typed into the input line of a client, only where that line is empty, and seen there before Enter. */
import { execFile } from 'node:child_process'
import { pause } from '../base/clock.ts'
import type { Push } from './attach-push.ts'

/** Text and Enter in one call lose the Enter. */
const beforeEnterMs = 150

/** How often the input line is looked at while somebody types, and for how long with a pointer in hand: the hub gives it to another route after 30 s. */
const lookMs = 1000
const shortMs = 100
const patience = 20

/** The words that a client shows in an empty input line. */
const placeholders: Readonly<Record<string, RegExp>> = {
  gemini: /^Type your message or @path\/to\/file/,
  claude: /^Try "/,
  codex: /^(Ask Codex|Find and fix|Explain this|Write tests|Improve doc|Summarize|Implement|Use \/skills|Run \/review)/,
  opencode: /^Ask anything/,
}

/** The sign of a prompt, perhaps inside of a frame. */
const promptLine = /^\s*[│┃▌|]?\s*[>❯›]\s*(.*?)\s*[│┃|]?\s*$/u

export function tmuxPush(client: string, pane: string): Push {
  const tmux = (...args: string[]): Promise<string | undefined> =>
    new Promise((resolve) => {
      execFile('tmux', args, { timeout: 5000 }, (error, stdout) => resolve(error === null ? stdout : undefined))
    })
  /** The text of the input line; undefined where there is none to be seen, null where the pane is gone. */
  const inputLine = async (): Promise<string | undefined | null> => {
    const state = await tmux('display-message', '-p', '-t', pane, '#{pane_in_mode} #{pane_dead}')
    if (state === undefined || state.trim().endsWith(' 1')) return null
    // Somebody scrolls: keys would go into tmux itself.
    if (!state.startsWith('0')) return undefined
    return inputLineOf((await tmux('capture-pane', '-p', '-t', pane)) ?? '')
  }
  const isEmpty = (line: string): boolean => line === '' || placeholders[client]?.test(line) === true
  const untilEmpty = async (lives: () => boolean, looks: number): Promise<'empty' | 'busy' | 'gone'> => {
    for (let look = 0; look < looks; look++) {
      const line = lives() ? await inputLine() : null
      if (line === null) return 'gone'
      if (line !== undefined && isEmpty(line)) return 'empty'
      await pause(lookMs)
    }
    return 'busy'
  }
  /** A busy machine shows keys late. */
  const settled = async (test: (line: string) => boolean): Promise<'so' | 'otherwise' | 'gone'> => {
    for (let looks = 0; looks < 20; looks++) {
      const line = await inputLine()
      if (line === null) return 'gone'
      if (line !== undefined && test(line)) return 'so'
      await pause(shortMs)
    }
    return 'otherwise'
  }
  return {
    async tell(text, lives) {
      const found = await untilEmpty(lives, patience)
      if (found === 'gone') return 'gone'
      // The turn that somebody types tells of the mail.
      if (found === 'busy') return 'returned'
      await tmux('send-keys', '-t', pane, '-l', '--', text)
      await pause(beforeEnterMs)
      // Somebody typed at the same moment, or the keys went elsewhere: Enter would send what nobody meant.
      const typed = await settled((line) => isBeginning(line, text))
      if (typed !== 'so') return typed === 'gone' ? 'gone' : 'returned'
      for (let tries = 0; tries < 3; tries++) {
        await tmux('send-keys', '-t', pane, 'Enter')
        const sent = await settled((line) => !isBeginning(line, text))
        if (sent !== 'otherwise') return sent === 'so' ? 'told' : 'gone'
      }
      return 'returned'
    },
    // No other pointer is asked for before the line is empty.
    ready: (lives) => untilEmpty(lives, Number.POSITIVE_INFINITY),
  }
}

/** The lowest line with the sign of a prompt: what stands above is what was said before. */
export function inputLineOf(screen: string): string | undefined {
  const line = screen.split('\n').findLast((one) => promptLine.test(one))
  return line === undefined ? undefined : promptLine.exec(line)?.[1]
}

/** A long text goes on in the next lines. */
const isBeginning = (line: string, text: string): boolean =>
  line.length >= Math.min(text.length, 16) && text.startsWith(line)
