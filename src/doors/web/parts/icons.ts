/** Icons, from the one SVG file of the door. */
import { type Html, html } from '../html.ts'
import type { Visit } from '../site.ts'

export type Icon =
  | 'inbox'
  | 'threads'
  | 'alert'
  | 'projects'
  | 'search'
  | 'compose'
  | 'menu'
  | 'lock'
  | 'clip'
  | 'clock'
  | 'people'
  | 'chart'
  | 'reply'
  | 'text'
  | 'check'
  | 'close'
  | 'up'
  | 'person'
  | 'home'

/** Beside a word that says the same: hidden from those who listen. */
export const icon = ({ asset }: Pick<Visit, 'asset'>, name: Icon): Html =>
  html`<svg class="icon" aria-hidden="true" width="16" height="16"><use href="${asset('icons.svg')}#${name}"></use></svg>`
