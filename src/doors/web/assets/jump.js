/** Ctrl+K: jump to any project, agent or thread by its name. */

/** @typedef {{ name: string, kind: string, href: string }} Place */

/** @type {Promise<Place[]> | undefined} */
let loading

export function installJump() {
  const dialog = document.getElementById('jump')
  const field = document.getElementById('jump-to')
  const list = document.getElementById('jump-list')
  if (!(dialog instanceof HTMLDialogElement) || !(field instanceof HTMLInputElement) || list === null) return

  const move = (/** @type {number} */ by) => {
    const items = [...list.children]
    const at = items.findIndex((item) => item.getAttribute('aria-selected') === 'true')
    select(items, Math.min(items.length - 1, Math.max(0, at + by)))
  }
  const update = async () => {
    loading ??= load().catch(() => [])
    const places = await loading
    list.replaceChildren(...best(places, field.value).map(toItem))
    select([...list.children], 0)
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    // In a field these keys are the browser's: some delete the rest of a line by them.
    if (event.target !== field && isField(event.target)) return
    event.preventDefault()
    if (dialog.open) return dialog.close()
    field.value = ''
    dialog.showModal()
    void update()
  })
  field.addEventListener('input', () => void update())
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      move(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const link = list.querySelector('[aria-selected="true"] a')
      if (link instanceof HTMLAnchorElement) link.click()
    }
  })
}

/** @param {EventTarget | null} target */
const isField = (target) => target instanceof HTMLElement && target.matches('input, textarea, select')

/** @param {Element[]} items @param {number} at */
function select(items, at) {
  for (const [n, item] of items.entries()) item.setAttribute('aria-selected', String(n === at))
  items[at]?.scrollIntoView({ block: 'nearest' })
}

/** @param {Place} place */
function toItem({ name, kind, href }) {
  const [item, link, label, what] = [
    document.createElement('li'),
    document.createElement('a'),
    document.createElement('span'),
    document.createElement('span'),
  ]
  item.setAttribute('role', 'option')
  link.href = href
  link.tabIndex = -1
  label.textContent = name
  what.textContent = kind
  what.className = 'kind'
  link.append(label, what)
  item.append(link)
  return item
}

/** @param {Place[]} places @param {string} typed */
function best(places, typed) {
  const words = typed.trim().toLowerCase().split(/\s+/)
  return places
    .filter(({ name, kind }) => words.every((word) => `${name} ${kind}`.toLowerCase().includes(word)))
    .sort(
      (a, b) =>
        Number(b.name.toLowerCase().startsWith(words[0] ?? '')) -
        Number(a.name.toLowerCase().startsWith(words[0] ?? '')),
    )
    .slice(0, 12)
}

/** @returns {Promise<Place[]>} */
async function load() {
  const [projects, agents, threads] = await Promise.all([
    ask('/mail/projects?limit=200'),
    ask('/mail/overseer/compose'),
    ask('/mail/unified-inbox?limit=200'),
  ])
  const part = encodeURIComponent
  return [
    ...(projects.projects ?? []).map((/** @type {any} */ { slug }) => ({
      name: slug,
      kind: 'project',
      href: `/mail/${part(slug)}`,
    })),
    ...(agents.agents ?? []).map((/** @type {any} */ { name, project }) => ({
      name,
      kind: `agent · ${project}`,
      href: `/mail/${part(project)}/inbox/${part(name)}`,
    })),
    ...(threads.messages ?? []).map((/** @type {any} */ { id, thread_id, subject, project }) => ({
      name: subject === '' ? `Thread ${thread_id ?? id}` : subject,
      kind: `thread · ${project}`,
      href: `/mail/${part(project)}/thread/${part(thread_id ?? String(id))}`,
    })),
  ]
}

/** @param {string} url */
async function ask(url) {
  const answer = await fetch(url, { headers: { accept: 'application/json' } })
  return answer.ok ? answer.json() : {}
}
