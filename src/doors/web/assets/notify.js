/** Desktop notifications, once a person asked for them: an answer to you, or any new line of Needs you. No push service: a page is open. */
import { base } from './place.js'

const [onKey, knownKey, mutedKey] = ['parley:notify', 'parley:notified', 'parley:muted']
const apartMs = 2000
/** An agent becomes stuck by doing nothing: no change tells of that. */
const silenceMs = 60_000
const mostKnown = 1000

export function installNotifications() {
  if (!('Notification' in window)) return
  document.addEventListener('parley:refreshed', showButtons)
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    if (button?.id === 'notify') void turn()
    if (button?.id === 'mute') mute(button.dataset.project ?? '')
  })
  showButtons()
  if (isOn()) listen()
}

const isOn = () => localStorage.getItem(onKey) === 'on' && Notification.permission === 'granted'

/** @param {string} key @returns {string[]} */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]')
  } catch {
    return []
  }
}

function showButtons() {
  const [notify, silence] = [document.getElementById('notify'), document.getElementById('mute')]
  if (notify !== null) {
    notify.hidden = false
    notify.textContent = `Notifications ${isOn() ? 'on' : 'off'}`
  }
  if (silence === null) return
  silence.hidden = !isOn()
  silence.textContent = read(mutedKey).includes(silence.dataset.project ?? '') ? 'Unmute project' : 'Mute project'
}

async function turn() {
  if (isOn()) localStorage.removeItem(onKey)
  else if ((await Notification.requestPermission()) === 'granted') {
    localStorage.setItem(onKey, 'on')
    listen()
  }
  showButtons()
}

/** @param {string} project */
function mute(project) {
  const muted = read(mutedKey)
  const next = muted.includes(project) ? muted.filter((one) => one !== project) : [...muted, project]
  localStorage.setItem(mutedKey, JSON.stringify(next))
  showButtons()
}

let listening = false

/** One tab of the browser listens; when it is closed, the next one does. */
function listen() {
  if (listening) return
  listening = true
  if (navigator.locks === undefined) return follow()
  void navigator.locks.request('parley:notify', () => new Promise(follow))
}

function follow() {
  let waiting = 0
  const soon = () => {
    if (waiting === 0)
      waiting = setTimeout(() => {
        waiting = 0
        if (isOn()) void tell()
      }, apartMs)
  }
  const stream = new EventSource(`${base}/mail/events`)
  stream.addEventListener('change', soon)
  setInterval(soon, silenceMs)
  addEventListener('pagehide', () => stream.close())
  // Lines that are there already are no news.
  void tell(localStorage.getItem(knownKey) === null)
}

async function tell(silently = false) {
  const answer = await fetch(`${base}/mail/attention?lines=1`, { headers: { accept: 'application/json' } })
  if (!answer.ok) return
  const { lines } = await answer.json()
  const there = new Set(lines.map((/** @type {{ id: string }} */ { id }) => id))
  // A message is told once; an agent that is stuck again is news again.
  const known = new Set(read(knownKey).filter((id) => there.has(id) || /^(answer|question)-/.test(id)))
  const muted = new Set(read(mutedKey))
  for (const { id, project, text } of lines) {
    if (known.has(id)) continue
    known.add(id)
    if (silently || muted.has(project)) continue
    const note = new Notification('Needs you', { body: text, tag: id })
    note.addEventListener('click', () => {
      window.focus()
      location.assign(`${base}/mail/attention#need-${id}`)
    })
  }
  localStorage.setItem(knownKey, JSON.stringify([...known].slice(-mostKnown)))
}
