/** The text of a message: typed after the command, or read from standard input. */
import { UsageError } from '../failures.ts'
import type { Input, Screen } from './screen.ts'

/** `most` is the length of the longest text that can be sent: one that is far longer is not read to its end. */
export async function typedText(screen: Screen, words: readonly string[], most: number): Promise<string> {
  if (words.length > 0 && !(words.length === 1 && words[0] === '-')) return words.join(' ')
  if (screen.input.tty) await screen.note('Type the message; end it with Ctrl-D on a line of its own.')
  return (await decode(screen.input, most)).replace(/\r?\n$/, '')
}

async function decode({ read }: Input, most: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let body = ''
  try {
    for await (const bytes of read()) {
      body += decoder.decode(bytes, { stream: true })
      if (body.length > 2 * most) return body
    }
    return body + decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError('The message is not UTF-8.', 'Nothing was sent.')
    throw error
  }
}
