/** Keys: links and fields name theirs in `data-hotkey`; walking a list and the dialogs are here. */
import { install } from './hotkey.js'

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
  act('j', () => walk(1))
  act('k', () => walk(-1))
  act('o', () =>
    rows()
      .find((row) => row === document.activeElement)
      ?.click(),
  )
  act('n', () => walk(1, '.unread'))
  act('u', () => {
    const { up } = document.body.dataset
    if (up !== undefined) location.assign(up)
  })
  act('e', () => {
    const row = document.activeElement?.closest('[data-row]')
    const button = (row ?? document).querySelector('button[data-read]')
    if (button instanceof HTMLButtonElement) button.click()
  })
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

/** The links that a list is walked by. @param {string} [which] @returns {HTMLElement[]} */
const rows = (which = '') =>
  [...document.querySelectorAll(`#main [data-row]${which}`)].flatMap((row) => {
    const link = row.matches('a') ? row : row.querySelector('a.subject')
    return link instanceof HTMLElement ? [link] : []
  })

/** @param {1 | -1} by @param {string} [which] */
function walk(by, which) {
  const wanted = new Set(rows(which))
  const all = rows()
  const from = all.indexOf(/** @type {HTMLElement} */ (document.activeElement))
  for (let at = from === -1 && by === -1 ? all.length - 1 : from + by; at >= 0 && at < all.length; at += by) {
    const row = all[at]
    if (row === undefined || !wanted.has(row)) continue
    row.focus()
    row.scrollIntoView({ block: 'nearest' })
    return
  }
}
