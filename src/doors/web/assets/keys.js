/** Keys: links and fields name theirs in `data-hotkey`; walking a list, acting on a line and the dialogs are here. */
import { choose, markRead, press, reply, undo } from './acting.js'
import { install } from './hotkey.js'
import { goBack } from './place.js'
import { allRows, currentRow, focusRow, linkOf } from './rows.js'

/** @type {WeakSet<HTMLElement>} */
const known = new WeakSet()
let on = false

/** After a page changed in place. */
export function refreshKeys() {
  if (!on) return
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-hotkey]'))) {
    if (known.has(element) || element.dataset.hotkey === '') continue
    known.add(element)
    install(element)
  }
}

export function installKeys() {
  on = true
  refreshKeys()
  document.addEventListener('parley:refreshed', refreshKeys)
  act('j', () => walk(1))
  act('k', () => walk(-1))
  act('o', () => {
    const row = currentRow()
    if (row) linkOf(row)?.click()
  })
  act('n', () => walk(1, ':is(.new, .unread)'))
  act('u', goBack)
  act('e', markRead)
  act('x', choose)
  act('z', undo)
  act('a', () => press('button[value="approve"], a[href*="confirm=contact-"]'))
  act('l', () => press('button[name="release"], a[href*="confirm=lease-"]'))
  // On a page with a field to answer, or a way to it, that has the key.
  if (document.querySelector('[data-hotkey="r"]') === null) act('r', () => void reply())
  act('Shift+?,?', () => {
    const dialog = document.getElementById('help')
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal()
  })
}

/** @param {string} keys @param {() => void} work */
function act(keys, work) {
  const button = document.createElement('button')
  button.addEventListener('click', work)
  install(button, keys)
}

/** @param {1 | -1} by @param {string} [which] */
function walk(by, which = '*') {
  const all = allRows()
  const here = currentRow()
  const from = here === undefined ? begin(all, by) : all.indexOf(here) + by
  for (let at = from; at >= 0 && at < all.length; at += by) {
    const row = all[at]
    if (row?.matches(which)) return focusRow(row)
  }
}

/** A long thread is read in its middle: there it begins at what is in view. @param {HTMLElement[]} all @param {1 | -1} by */
function begin(all, by) {
  const top = document.querySelector('.top')?.getBoundingClientRect().bottom ?? 0
  const shown = all.findIndex((row) => row.matches('.message') && row.getBoundingClientRect().bottom > top)
  if (shown !== -1) return shown
  return by === 1 ? 0 : all.length - 1
}
