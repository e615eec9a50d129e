/** Keeps the place: going back leads to the line one came from, and `u` goes back. */
import { allRows, currentRow, linkOf } from './rows.js'

/** The path below which the server is served. */
export const base = document.documentElement.dataset.base ?? ''

const key = (/** @type {string} */ href) => `parley:place:${href.split('#', 1)[0]}`

/** Going back, the browser loads the page anew: nothing of it may be kept. */
export const isBack = () =>
  performance.getEntriesByType('navigation').some((entry) => /** @type {any} */ (entry).type === 'back_forward')

export function keepPlace() {
  addEventListener('pagehide', () => {
    const row = currentRow()
    const at = row === undefined ? -1 : allRows().indexOf(row)
    put(key(location.href), JSON.stringify({ id: row?.id ?? '', at, y: scrollY }))
  })
  if (!isBack()) return
  const kept = read()
  if (kept === undefined) return
  history.scrollRestoration = 'manual'
  const row = document.getElementById(kept.id) ?? allRows()[kept.at]
  if (row !== undefined && row !== null) linkOf(row)?.focus({ preventScroll: true })
  scrollTo(0, kept.y)
}

/** Back to where one came from, if that was one of these pages; else one level up. */
export function goBack() {
  const from = document.referrer === '' ? undefined : new URL(document.referrer)
  const ours = from !== undefined && from.origin === location.origin && from.pathname.startsWith(`${base}/mail`)
  const elsewhere =
    from !== undefined && from.pathname !== location.pathname && !from.pathname.startsWith(`${base}/mail/login`)
  if (ours && elsewhere && history.length > 1) return history.back()
  const { up } = document.body.dataset
  if (up !== undefined) location.assign(up)
}

/** @param {string} name @param {string} value */
function put(name, value) {
  try {
    sessionStorage.setItem(name, value)
  } catch {
    // Without a place to keep it, a page opens at its top.
  }
}

/** @returns {{ id: string, at: number, y: number } | undefined} */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(key(location.href)) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
