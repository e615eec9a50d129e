/** Opens a thread at the first message that is new to this browser, else at the newest; `#m-<id>` at the page that has it. */

const key = 'parley:read'
const mostKept = 300

export function openThread() {
  const messages = [...document.querySelectorAll('article.message[id^="m-"]')]
  const last = messages.at(-1)
  const wanted = /^#m-(\d+)$/.exec(location.hash)?.[1]
  if (wanted !== undefined && last !== undefined) {
    const url = new URL(location.href)
    // Asked once: a message of another thread is on no page of this one.
    if (document.getElementById(`m-${wanted}`) !== null || url.searchParams.get('at') === wanted) return keep(last)
    for (const name of ['before', 'after']) url.searchParams.delete(name)
    url.searchParams.set('at', wanted)
    return location.replace(url)
  }
  if (last === undefined || document.querySelector('.letter') !== null) return
  const seen = Number(read()[location.pathname] ?? Number.POSITIVE_INFINITY)
  const fresh = messages.find((message) => idOf(message) > seen)
  if (fresh !== undefined) fresh.classList.add('first-new')
  const paged = /[?&](before|after|at)=/.test(location.search)
  if (location.hash === '' && !paged && !isBack())
    (fresh ?? last).scrollIntoView({ block: fresh ? 'start' : 'nearest' })
  keep(last)
}

/** Going back, the browser knows the place. */
const isBack = () =>
  performance.getEntriesByType('navigation').some((entry) => /** @type {any} */ (entry).type === 'back_forward')

/** @param {Element} message */
const idOf = (message) => Number(message.id.slice(2))

/** @param {Element | undefined} last */
function keep(last) {
  if (last === undefined) return
  const all = read()
  const before = Number(all[location.pathname] ?? 0)
  delete all[location.pathname]
  all[location.pathname] = Math.max(before, idOf(last))
  try {
    localStorage.setItem(key, JSON.stringify(Object.fromEntries(Object.entries(all).slice(-mostKept))))
  } catch {
    // Without a place to keep it, every thread opens at its newest message.
  }
}

/** @returns {Record<string, number>} */
function read() {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}')
  } catch {
    return {}
  }
}
