/** Text from agents, made harmless for terminals: characters that would steer one are shown instead (cli.topics.harmless). */

/**
 * Control characters, among them ESC and the one-byte CSI; signs that turn the direction of writing, with which a line
 * can pass for another; other ends of lines than \n.
 */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

function shown(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '␡' : escaped(character)
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** For one line: nothing in it begins another. */
export const harmlessLine = (text: string): string => text.replace(steering, shown)

/** For many lines; tabs stay. */
export const harmlessText = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(steering, (found) => (found === '\n' || found === '\t' ? found : shown(found)))

const plainWord = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.@+-]*$/u

/** A name or type as one word; in quotes if it could be taken for more. */
export const word = (text: string): string => (plainWord.test(text) ? text : harmlessLine(JSON.stringify(text)))

/** JSON that says the same without a character that steers a terminal. */
export const harmlessJson = (value: unknown): string => JSON.stringify(value).replace(steering, escaped)
