/** Keeps a page up to date: a stream says that something changed, then the page asks for itself again and changes in place. */
import { Idiomorph } from './idiomorph.js'

/** At most two refreshes a second. */
const pauseMs = 500
const retryMs = 3000
const silenceMs = 60_000
/** Put into the page by scripts, or by a page before: what comes anew does not have it. */
const ours = '.filter, .new-line, .notice, .here'

export function keepLive() {
  const { events } = /** @type {HTMLElement} */ (document.getElementById('main')).dataset
  if (events === undefined) return
  let stale = false
  let busy = false
  let last = 0
  let broken = false

  const hint = () => {
    stale = true
    if (busy || document.hidden) return
    busy = true
    setTimeout(refresh, Math.max(0, last + pauseMs - performance.now()))
  }

  async function refresh() {
    stale = false
    last = performance.now()
    try {
      await refreshPage({ accept: 'text/html', 'x-parley-refresh': '1' })
    } catch {
      // The server is away: the stream says when it is back.
    }
    busy = false
    if (stale) hint()
  }

  function connect() {
    const stream = new EventSource(/** @type {string} */ (events))
    stream.addEventListener('change', hint)
    stream.addEventListener('open', () => {
      show('')
      // Whatever came meanwhile was missed.
      if (broken) hint()
      broken = false
    })
    stream.addEventListener('error', () => {
      broken = true
      show('Reconnecting…')
      if (stream.readyState === EventSource.CLOSED) setTimeout(connect, retryMs)
    })
    addEventListener('pagehide', () => stream.close())
  }

  // An agent becomes stuck by doing nothing: no change tells of that, and every page counts what needs a person.
  setInterval(hint, silenceMs)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && stale) hint()
  })
  connect()
}

/** @param {string} text */
function show(text) {
  const place = document.getElementById('stream')
  if (place === null) return
  place.textContent = text
  place.hidden = text === ''
}

/** Asks for this page again, and changes it in place. A page that nobody waits for says so: it takes its turn among all that are open. @param {Record<string, string>} [headers] */
export async function refreshPage(headers = { accept: 'text/html' }) {
  const url = new URL(location.href)
  // The end of a thread stays the end, also if more came meanwhile than one page shows.
  if (document.getElementById('reply') !== null) url.searchParams.set('newest', '1')
  const answer = await fetch(url, { headers, cache: 'no-store' })
  if (answer.redirected) return location.reload()
  if (!answer.ok) return
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
  let arrived = 0
  /** @type {HTMLElement[]} */
  const below = []
  const options = {
    ignoreActiveValue: true,
    callbacks: {
      beforeNodeMorphed: (/** @type {Node} */ old) => !isTyped(old),
      /** A section that a person opened stays open, and an entry that the filter hides stays hidden. */
      beforeAttributeUpdated: (/** @type {string} */ name, /** @type {Node} */ node) =>
        !(name === 'open' && node instanceof HTMLDetailsElement) &&
        !(name === 'hidden' && node instanceof HTMLLIElement),
      beforeNodeRemoved: (/** @type {Node} */ node) =>
        !(node instanceof HTMLElement && (node.matches(ours) || node.querySelector('.here') !== null)),
      afterNodeAdded: (/** @type {Node} */ node) => {
        if (!(node instanceof HTMLElement) || !node.matches('[data-row][id]')) return
        node.classList.add('arrived')
        arrived++
        if (node.matches('.message')) below.push(node)
      },
    },
  }
  // The line stays where the person left off, while the page is open.
  if (document.getElementById('new') !== null) next.getElementById('new')?.remove()
  for (const part of ['main', '.side', '#inspector', '#waiting']) morph(part, next, options)
  document.title = next.title
  document.dispatchEvent(new Event('parley:refreshed'))
  announce(arrived)
  showBelow(below)
}

/** @param {string} part @param {Document} next @param {object} options */
function morph(part, next, options) {
  const [old, fresh] = [document.querySelector(part), next.querySelector(part)]
  if (old && fresh) void Idiomorph.morph(old, fresh, { morphStyle: 'outerHTML', ...options })
}

/** @param {Node} node */
function isTyped(node) {
  if (node instanceof HTMLTextAreaElement) return node.value !== node.defaultValue || node === document.activeElement
  if (!(node instanceof HTMLInputElement)) return false
  return node.value !== node.defaultValue || node.checked !== node.defaultChecked
}

/** @param {number} count */
const announce = (count) => say(count === 0 ? '' : count === 1 ? 'One new message' : `${count} new messages`)

/** Messages of an open thread that came below what is in view: a button leads to the first, and stays until it is used. */
/** @type {HTMLElement[]} */
let waiting = []

/** @param {HTMLElement[]} messages */
function showBelow(messages) {
  waiting.push(...messages.filter((message) => message.getBoundingClientRect().top > innerHeight - 40))
  waiting = waiting.filter((message) => message.isConnected)
  let button = document.getElementById('below')
  if (waiting.length === 0) return button?.remove()
  if (button === null) {
    button = document.createElement('button')
    button.id = 'below'
    button.className = 'below'
    button.addEventListener('click', () => {
      waiting[0]?.scrollIntoView({ block: 'start' })
      waiting = []
      document.getElementById('below')?.remove()
    })
    document.body.append(button)
  }
  button.textContent = `↓ ${waiting.length} new`
}

/** Told at the edge of the page for a while. @param {string} text */
export function say(text) {
  const place = document.getElementById('live')
  if (place === null || text === '') return
  place.textContent = text
  setTimeout(() => {
    if (place.textContent !== text) return
    place.textContent = ''
  }, 4000)
}
