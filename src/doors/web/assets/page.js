/** Scripts keep a page live, add keys, act in place, and filter lists. Everything else works without them. */
import { actInPlace } from './acting.js'
import { installJump } from './jump.js'
import { installKeys } from './keys.js'
import { keepLive } from './live.js'
import { installNotifications } from './notify.js'
import { keepPlace } from './place.js'
import { openThread } from './reading.js'
import { keepTimes } from './times.js'

/** @param {ParentNode} root */
function enhance(root) {
  for (const link of root.querySelectorAll('a[data-select]'))
    link.addEventListener('click', (event) => {
      event.preventDefault()
      const { select } = /** @type {HTMLElement} */ (link).dataset
      for (const box of document.querySelectorAll('input[name="recipients"]'))
        if (box instanceof HTMLInputElement) box.checked = select === 'all'
    })
}

/** A field above the projects and threads of the column, to find one among many. */
function addFilter() {
  const first = document.querySelector('.side [data-filter]')
  if (first === null || document.querySelectorAll('.side [data-filter] li').length < 8) return
  const field = document.createElement('input')
  field.type = 'search'
  field.className = 'filter'
  field.placeholder = 'Filter'
  field.setAttribute('aria-label', 'Filter projects and threads')
  field.addEventListener('input', () => {
    const wanted = field.value.trim().toLowerCase()
    for (const item of document.querySelectorAll('.side [data-filter] li'))
      if (item instanceof HTMLElement) item.hidden = !item.textContent?.toLowerCase().includes(wanted)
  })
  first.previousElementSibling?.before(field)
}

/** The server finds recipients as one types; those that are chosen stay. */
function findRecipients() {
  const field = document.querySelector('[data-recipients]')
  const list = document.getElementById('recipients-found')
  if (!(field instanceof HTMLInputElement) || list === null) return
  let waiting = 0
  field.addEventListener('input', () => {
    clearTimeout(waiting)
    waiting = setTimeout(async () => {
      const url = new URL(location.href)
      const chosen = [...list.querySelectorAll('input:checked')].map(
        (box) => /** @type {HTMLInputElement} */ (box).value,
      )
      url.search = String(new URLSearchParams({ q: field.value, to: chosen.join(',') }))
      const answer = await fetch(url, { headers: { accept: 'text/html' } })
      const found = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('recipients-found')
      if (answer.ok && found !== null) list.replaceChildren(...found.childNodes)
    }, 150)
  })
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault()
  })
}

enhance(document)
addFilter()
findRecipients()
if (document.body.dataset.keys === 'on') {
  installKeys()
  installJump()
}
openThread()
keepPlace()
actInPlace()
keepLive()
keepTimes()
installNotifications()
document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
