/** Keeps times true on a page that nobody reloads: the same words as the server's (parts/times.ts). */

import { refreshPage } from './live.js'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const everyMs = 15_000

export function keepTimes() {
  keepZone()
  setInterval(() => {
    if (!document.hidden) for (const time of document.querySelectorAll('time[data-age]')) update(time)
  }, everyMs)
}

/** The server writes times in the zone of this cookie; a page that came before it was there asks for itself again. */
function keepZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC'
  if (zone === document.documentElement.dataset.zone) return
  document.documentElement.dataset.zone = zone
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not there on plain http.
  document.cookie = `parley_zone=${encodeURIComponent(zone)}; Path=/mail; Max-Age=31536000; SameSite=Strict${secure}`
  void refreshPage()
}

/** @param {Element} time */
function update(time) {
  const age = Date.now() - Date.parse(time.getAttribute('datetime') ?? '')
  // Past a week it is a date, which stays.
  if (!(age < 7 * day)) return
  const said =
    age < minute
      ? ''
      : age < hour
        ? `${Math.floor(age / minute)} min`
        : age < day
          ? `${Math.floor(age / hour)} h`
          : `${Math.floor(age / day)} d`
  const how = time.getAttribute('data-age')
  const text =
    said === ''
      ? how === 'ago'
        ? 'just now'
        : how === 'for'
          ? 'a moment'
          : 'now'
      : how === 'ago'
        ? `${said} ago`
        : said
  if (time.textContent !== text) time.textContent = text
}
