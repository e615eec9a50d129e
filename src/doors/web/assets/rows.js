/** The lines of a page that keys walk through: rows of lists, lines of what needs a person, messages of a thread. */

/** @returns {HTMLElement[]} */
export const allRows = () =>
  /** @type {HTMLElement[]} */ ([...document.querySelectorAll('#main :is([data-row], .need)')]).filter(
    (row) => linkOf(row) !== null,
  )

/** The part of a line that has the focus. @param {HTMLElement} row @returns {HTMLElement | null} */
export const linkOf = (row) =>
  row.matches('a') ? row : (row.querySelector('a.subject') ?? row.querySelector('a, button'))

/** The line that has the focus. @returns {HTMLElement | undefined} */
export const currentRow = () => allRows().find((row) => row.contains(document.activeElement))

/** @param {HTMLElement | undefined} row */
export function focusRow(row) {
  if (row === undefined) return
  linkOf(row)?.focus({ preventScroll: true })
  row.scrollIntoView({ block: row.matches('.message') ? 'start' : 'nearest' })
}
