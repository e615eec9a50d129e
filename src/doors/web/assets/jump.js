/** Ctrl+K: jump to a thread, agent, project or action. The server is asked as somebody types. */
import { base } from './place.js'

/** @typedef {{ name: string, kind: string, href: string }} Place */

/** Typing goes on for so long before it is asked. */
const pauseMs = 60

export function installJump() {
  const dialog = document.getElementById('jump')
  const field = document.getElementById('jump-to')
  const list = document.getElementById('jump-list')
  const none = document.getElementById('jump-none')
  if (!(dialog instanceof HTMLDialogElement) || !(field instanceof HTMLInputElement) || !list || !none) return
  let asking = new AbortController()
  let timer = 0

  const options = () => [...list.querySelectorAll('a')]
  const choose = (/** @type {number} */ at) => {
    const items = options()
    const to = Math.min(items.length - 1, Math.max(0, at))
    for (const [n, item] of items.entries()) item.setAttribute('aria-selected', String(n === to))
    items[to]?.scrollIntoView({ block: 'nearest' })
    field.setAttribute('aria-activedescendant', items[to]?.id ?? '')
  }
  const chosen = () => options().findIndex((item) => item.getAttribute('aria-selected') === 'true')

  const update = async () => {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    const places = await ask(field.value, dialog.dataset.project, signal).catch(() => undefined)
    // Another letter was typed meanwhile.
    if (signal.aborted) return
    const found = places ?? []
    list.replaceChildren(...found.map(toItem))
    // The last one is always the search for it.
    const matches = found.filter(({ kind }) => kind !== 'search').length
    none.hidden = matches > 0
    none.textContent = places === undefined ? 'The server does not answer.' : 'Nothing matches.'
    choose(0)
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    // In a field these keys are the browser's: some delete the rest of a line by them.
    if (event.target !== field && isField(event.target)) return
    event.preventDefault()
    if (dialog.open) return dialog.close()
    field.value = ''
    list.replaceChildren()
    none.hidden = true
    dialog.showModal()
    void update()
  })
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(update, pauseMs)
  })
  dialog.addEventListener('keydown', (event) => {
    const steps = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (steps === 0 && event.key !== 'Enter' && event.key !== 'Escape') return
    event.preventDefault()
    if (steps !== 0) return choose(chosen() + steps)
    // A field for a search takes the first Esc to empty itself.
    if (event.key === 'Escape') return dialog.close()
    options()[chosen()]?.click()
  })
}

/** @param {EventTarget | null} target */
const isField = (target) => target instanceof HTMLElement && target.matches('input, textarea, select')

/** @param {Place} place @param {number} at */
function toItem({ name, kind, href }, at) {
  const [item, link, label, what] = [
    document.createElement('li'),
    document.createElement('a'),
    document.createElement('span'),
    document.createElement('span'),
  ]
  // The link itself is the option: one inside of an option is out of reach for a screen reader.
  item.setAttribute('role', 'presentation')
  link.id = `jump-${at}`
  link.setAttribute('role', 'option')
  link.href = href
  link.tabIndex = -1
  label.textContent = name
  label.dir = 'auto'
  what.textContent = kind
  what.className = 'kind'
  link.append(label, what)
  item.append(link)
  return item
}

/** @param {string} q @param {string | undefined} project @param {AbortSignal} signal @returns {Promise<Place[]>} */
async function ask(q, project, signal) {
  const query = new URLSearchParams({ q, ...(project && { project }) })
  const answer = await fetch(`${base}/mail/jump?${query}`, { headers: { accept: 'application/json' }, signal })
  if (!answer.ok) throw new Error(answer.statusText)
  return (await answer.json()).places
}
