/** Opens a thread where the person left off, which the server knows, else at the newest message; `#m-<id>` at the page that has it. */
import { isBack } from './place.js'

const shown = 'article.message[id^="m-"]'

export function openThread() {
  addEventListener('hashchange', findMessage)
  if (findMessage()) return
  const last = [...document.querySelectorAll(shown)].at(-1)
  if (location.hash === '#reply') return document.getElementById('body_md')?.focus()
  if (last === undefined || document.querySelector('.letter') !== null) return
  const fresh = document.getElementById('new')
  const paged = /[?&](before|after|at|summary)=/.test(location.search)
  if (location.hash === '' && !paged && !isBack())
    (fresh ?? last).scrollIntoView({ block: fresh ? 'start' : 'nearest' })
  // The next look begins behind these: this page stays where it is.
  const from = fresh?.dataset.at
  if (from !== undefined) history.replaceState(history.state, '', withAt(from))
}

/** Whether the address names a message; another page of the thread may have it. */
function findMessage() {
  const wanted = /^#m-(\d+)$/.exec(location.hash)?.[1]
  if (wanted === undefined || document.querySelector(shown) === null) return false
  // Asked once: a message of another thread is on no page of this one.
  const asked = new URL(location.href).searchParams.get('at') === wanted
  if (document.getElementById(`m-${wanted}`) === null && !asked) location.replace(withAt(wanted))
  return true
}

/** The page of this thread that has a message. @param {string} id */
function withAt(id) {
  const url = new URL(location.href)
  for (const name of ['before', 'after', 'newest']) url.searchParams.delete(name)
  url.searchParams.set('at', id)
  return url
}
