/** Opens a thread where the person left off, which the server knows, else at the newest message; `#m-<id>` at the page that has it. */
import { isBack } from './place.js'

export function openThread() {
  const messages = [...document.querySelectorAll('article.message[id^="m-"]')]
  const last = messages.at(-1)
  const wanted = /^#m-(\d+)$/.exec(location.hash)?.[1]
  if (wanted !== undefined && last !== undefined) {
    const url = new URL(location.href)
    // Asked once: a message of another thread is on no page of this one.
    if (document.getElementById(`m-${wanted}`) !== null || url.searchParams.get('at') === wanted) return
    for (const name of ['before', 'after']) url.searchParams.delete(name)
    url.searchParams.set('at', wanted)
    return location.replace(url)
  }
  if (location.hash === '#reply') return document.getElementById('body_md')?.focus()
  if (last === undefined || document.querySelector('.letter') !== null) return
  const fresh = document.getElementById('new')
  const paged = /[?&](before|after|at|summary)=/.test(location.search)
  if (location.hash === '' && !paged && !isBack())
    (fresh ?? last).scrollIntoView({ block: fresh ? 'start' : 'nearest' })
}
