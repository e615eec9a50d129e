/** Acts in place: a form of a line is sent without leaving the page, then the next line has the focus. */
import { refreshPage, say } from './live.js'
import { allRows, currentRow, focusRow } from './rows.js'

/** The ids of lines that were chosen for one act. @type {Set<string>} */
const chosen = new Set()

const lines = ':is([data-row], .need)'

/** Takes back the last act, which may have been on several lines. @type {Sending[]} */
let undoing = []
/** The line of the last act. */
let acted = ''

export function actInPlace() {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || form.method !== 'post' || event.defaultPrevented) return
    const row = /** @type {HTMLElement | null} */ (form.closest(`#main ${lines}, #main > .notice`))
    if (row === null) return
    event.preventDefault()
    const one = { form, button: event.submitter }
    void act(undoing.some((undo) => undo.form === form) ? undoing : [one], row)
  })
  // Asking once is a page of its own without scripts; with them it is this one.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest(`${lines} a[href*="confirm="]`) : null
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    void ask(link)
  })
  document.addEventListener('parley:refreshed', showChosen)
}

/** @param {HTMLAnchorElement} link */
async function ask(link) {
  const id = link.closest(lines)?.id ?? ''
  history.replaceState(history.state, '', link.href)
  await refreshPage()
  const button = document.querySelector(`#${CSS.escape(id)} form button`)
  if (button instanceof HTMLButtonElement) button.focus()
}

/** @typedef {{ form: HTMLFormElement, button: HTMLElement | null }} Sending */

/** @param {Sending[]} sendings @param {HTMLElement} row a line, or the notice of the last act */
async function act(sendings, row) {
  const before = allRows()
  const at = before.indexOf(row)
  const next = at === -1 ? acted : before.slice(at + 1).find((one) => !chosen.has(one.id))?.id
  /** @type {Told[]} */
  const told = []
  for (const { form, button } of sendings) {
    const one = await send(form, button)
    if (one.fault === '' && form.matches('.here')) form.remove()
    told.push(one)
  }
  const url = new URL(location.href)
  for (const name of ['confirm', 'done', 'undo']) url.searchParams.delete(name)
  history.replaceState(history.state, '', url)
  chosen.clear()
  acted = row.id
  document.getElementById('done')?.remove()
  await refreshPage()
  show(told)
  const after = allRows()
  const byId = next ? document.getElementById(next) : null
  focusRow(byId ?? (after.length < before.length ? after[at] : after[at + 1]) ?? after.at(-1))
}

/** @typedef {{ notice: Element | null, fault: string }} Told */

/** The notice stays until the next act: its button takes back this one. @param {Told[]} told */
function show(told) {
  undoing = told.flatMap(({ notice }) => {
    const form = notice?.querySelector('form')
    return form ? [{ form, button: form.querySelector('button') }] : []
  })
  const { notice = null, fault = '' } = told.find(({ fault }) => fault !== '') ?? told.at(-1) ?? {}
  if (notice !== null) document.getElementById('main')?.prepend(notice)
  say(fault)
}

/** @param {HTMLFormElement} form @param {HTMLElement | null} button @returns {Promise<Told>} what the page says of it */
async function send(form, button) {
  const fields = new URLSearchParams(/** @type {any} */ (new FormData(form, button)))
  const answer = await fetch(form.action, { method: 'post', body: fields, headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  if (answer.ok) return { notice: page.getElementById('done'), fault: '' }
  const fault = page.querySelector('main .fault, main p')?.textContent?.trim()
  return { notice: null, fault: fault ?? 'It did not work.' }
}

/** The button of a line, by what it does. @param {HTMLElement} row @param {string} which */
const buttonIn = (row, which) => {
  const button = row.querySelector(which)
  return button instanceof HTMLElement ? button : undefined
}

/** Marks the chosen lines as read, else the one with the focus, else the message of the page. */
export function markRead() {
  const row = currentRow()
  const rows = chosen.size > 0 ? allRows().filter(({ id }) => chosen.has(id)) : row ? [row] : []
  const sendings = rows.flatMap((one) => {
    const button = buttonIn(one, 'button[data-read]')
    const form = button?.closest('form')
    return button && form ? [{ form, button }] : []
  })
  const last = rows.at(-1)
  if (sendings.length > 0 && last !== undefined) return void act(sendings, last)
  if (row === undefined) buttonIn(document.body, '#main button[data-read]')?.click()
}

export function undo() {
  buttonIn(document.body, '#main > .notice button')?.click()
}

export function choose() {
  const row = currentRow()
  if (row === undefined || row.id === '') return
  if (!chosen.delete(row.id)) chosen.add(row.id)
  showChosen()
  say(`${chosen.size} chosen`)
}

function showChosen() {
  for (const row of allRows()) row.classList.toggle('chosen', chosen.has(row.id))
}

/** Presses what is in the line with the focus. @param {string} which */
export function press(which) {
  const row = currentRow()
  if (row !== undefined) buttonIn(row, which)?.click()
}

/** Answers the message of the line with the focus, on that line; in a thread, the field has the key itself. */
export async function reply() {
  const row = currentRow()
  const link = row?.querySelector('a[href$="#reply"], a.subject')
  if (row === undefined || row.matches('.message')) return
  if (row.querySelector('textarea') === null && link instanceof HTMLAnchorElement) {
    const form = await replyForm(link.href)
    const field = form?.querySelector('textarea')
    if (!form || !field) return
    form.removeAttribute('id')
    form.classList.add('here')
    // On this page the key is that of the lines.
    delete field.dataset.hotkey
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return
      form.remove()
      focusRow(row)
    })
    row.append(form)
  }
  // A question has its field already.
  row.querySelector('details')?.setAttribute('open', '')
  row.querySelector('textarea')?.focus()
}

/** The form at the end of a thread. @param {string} href of the thread, or of a message in it @returns {Promise<HTMLFormElement | undefined>} */
async function replyForm(href) {
  const url = new URL(href)
  if (!/\/(message|thread)\//.test(url.pathname)) return undefined
  url.searchParams.delete('at')
  if (/\/thread\//.test(url.pathname)) url.searchParams.set('newest', '1')
  const answer = await fetch(url, { headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const form = page.getElementById('reply')
  if (form instanceof HTMLFormElement) return form
  const way = page.querySelector('a[data-hotkey="r"]')
  return way instanceof HTMLAnchorElement ? replyForm(way.href) : undefined
}
