/** Feed positions as text, for those who go away and come back: a client keeps one and knows nothing of it. */
import type { FeedPosition } from '../../store/feed/positions.ts'

export const writePlace = ({ tx, id }: FeedPosition): string => `${tx}.${id}`

/** A text that is no place resumes nothing. */
export function readPlace(text: string | undefined): FeedPosition | undefined {
  const [, tx, id] = /^(\d{1,15})\.(\d{1,15})$/.exec(text ?? '') ?? []
  return tx === undefined ? undefined : { tx: Number(tx), id: Number(id) }
}
