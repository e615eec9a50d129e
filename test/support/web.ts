/** The pages as a browser asks for them: with cookies, and with the forms that it was given. */

export interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  json<Value = Record<string, unknown>>(): Value
}

export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<Shown>
  /** The same as data. */
  data<Value = Record<string, unknown>>(path: string): Promise<Value>
  /** A form, with the proof of the last page that had one, unless told otherwise. */
  post(path: string, fields: Record<string, string | string[]>, headers?: Record<string, string>): Promise<Shown>
  readonly cookies: Map<string, string>
}

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

export function visitor(url: string, always: Record<string, string> = {}): Visitor {
  const cookies = new Map<string, string>()
  let proof = ''

  async function ask(path: string, init: RequestInit): Promise<Shown> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...browser, ...always, ...(cookie !== '' && { cookie }), ...(init.headers as object) }
    const response = await fetch(url + path, { ...init, redirect: 'manual', headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await response.text()
    proof = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? proof
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }

  return {
    cookies,
    get: (path, headers = {}) => ask(path, { headers }),
    async data(path) {
      const shown = await ask(path, { headers: { accept: 'application/json' } })
      if (shown.status !== 200) throw new Error(`${path}: ${shown.status} ${shown.text.slice(0, 300)}`)
      return shown.json()
    },
    post(path, fields, headers = {}) {
      const body = new URLSearchParams({ _csrf: proof })
      for (const [name, value] of Object.entries(fields)) {
        body.delete(name)
        for (const one of [value].flat()) body.append(name, one)
      }
      return ask(path, {
        method: 'POST',
        body: body.toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      })
    },
  }
}

const tag = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z_:][-\w:.]*(?:="[^"<>]*")?)*)\s*\/?>/g
const attribute = /([a-zA-Z_:][-\w:.]*)(?:="([^"<>]*)")?/g

/** Parts of a page that are not plainly ours: stray markup, attributes that run something, addresses that lead elsewhere. */
export function strangeIn(page: string): string[] {
  const strange: string[] = []
  const rest = page
    .replace(/^<!doctype html>/, '')
    .replace(tag, (_all, close: string, name: string, inside: string) => {
      if (/^(iframe|object|embed|base|style|math|foreignobject)$/i.test(name)) strange.push(`<${name}>`)
      if (/^script$/i.test(name) && close === '' && !/src="\/mail\/assets\//.test(inside)) strange.push('a script')
      for (const [, key = '', value = ''] of inside.matchAll(attribute)) {
        if (/^(on|style|srcdoc|formaction)/i.test(key)) strange.push(`${name} ${key}`)
        const address = value.replaceAll('&amp;', '&')
        if (
          /^(href|src|action)$/i.test(key) &&
          !/^(\/mail|#|https?:\/\/|mailto:|data:image\/(png|jpeg|gif|webp);)/i.test(address)
        )
          strange.push(`${name} ${key}=${value}`)
        if (key === 'src' && /^https?:/i.test(address)) strange.push(`${name} loads ${value}`)
      }
      return ''
    })
  if (rest.includes('<')) strange.push(rest.slice(rest.indexOf('<'), rest.indexOf('<') + 80))
  return strange
}
