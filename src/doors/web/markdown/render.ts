/** Markdown to HTML that is safe in a page: raw HTML is text, links and images go to few places (web.markdown.safe). */
import hljs from 'highlight.js/lib/common'
import MarkdownIt from 'markdown-it'
import sanitize from 'sanitize-html'

/** Longer blocks of code are not coloured. */
const mostCode = 8 * 1024

const shift = 2
const lowest = 6

const markdown = new MarkdownIt({ html: false, linkify: true, maxNesting: 50, highlight })
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
// Links that lead elsewhere lose their address and stay text; markdown-it would show their source.
markdown.validateLink = () => true
markdown.normalizeLink = (url) => url
markdown.normalizeLinkText = (url) => url

function highlight(code: string, language: string): string {
  if (language === '' || code.length > mostCode || hljs.getLanguage(language) === undefined) return ''
  return hljs.highlight(code, { language, ignoreIllegals: true }).value
}

/** The headings of a body stand below those of the page. */
markdown.core.ruler.push('lowered', ({ tokens }) => {
  for (const token of tokens)
    if (/^h[1-6]$/.test(token.tag)) token.tag = `h${Math.min(lowest, Number(token.tag.slice(1)) + shift)}`
})

/** `- [ ]` and `- [x]` at the beginning of an item. */
markdown.core.ruler.push('tasks', (state) => {
  for (const [at, token] of state.tokens.entries()) {
    const first = token.children?.[0]
    if (token.type !== 'inline' || state.tokens[at - 2]?.type !== 'list_item_open' || first?.type !== 'text') continue
    const box = /^\[([ xX])\] /.exec(first.content)
    if (box === null) continue
    first.content = first.content.slice(box[0].length)
    const mark = new state.Token('task', '', 0)
    mark.content = box[1]?.trim() ?? ''
    token.children?.unshift(mark)
    state.tokens[at - 2]?.attrJoin('class', 'task')
  }
})

markdown.renderer.rules.task = (tokens, at) =>
  `<input type="checkbox" disabled${tokens[at]?.content ? ' checked' : ''} aria-label="${tokens[at]?.content ? 'done' : 'to do'}"> `

const escaped = (text: string): string => markdown.utils.escapeHtml(text)

/** A long path or address may be broken after a slash, and is copied whole. */
const breakable = (text: string): string =>
  text
    .replace(/\S{24,}/g, (run) => run.replaceAll('/', '/\u0000'))
    .split('\u0000')
    .map(escaped)
    .join('<wbr>')

markdown.renderer.rules.text = (tokens, at) => breakable(tokens[at]?.content ?? '')
markdown.renderer.rules.code_inline = (tokens, at) => `<code>${breakable(tokens[at]?.content ?? '')}</code>`

/** Browsers pass over spaces and controls in a scheme, and so must whoever judges it. */
const plain = (url: string): string => url.replace(/[\p{Cc}\p{Z}]+/gu, '')

const linkAllowed = (url: string): boolean => /^(?:https?:\/\/|mailto:|#)/i.test(plain(url))
const dataImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/
const attachment = /^attachments\/(?:originals\/)?[0-9a-f]{2}\/[0-9a-f]{40}\.[a-z0-9]{1,10}$/

markdown.renderer.rules.link_open = (tokens, at, options, _env, self) => {
  const token = tokens[at]
  const href = String(token?.attrGet('href') ?? '')
  const title = token?.attrGet('title')
  if (token)
    token.attrs = linkAllowed(href)
      ? [
          ['href', plain(href)],
          ['rel', 'noopener noreferrer nofollow'],
        ]
      : []
  if (token && title) token.attrPush(['title', String(title)])
  return self.renderToken(tokens, at, options)
}

/** A remote image becomes a link: loading it would tell its host who reads. */
markdown.renderer.rules.image = (tokens, at, options, env, self) => {
  const token = tokens[at]
  const src = String(token?.attrGet('src') ?? '')
  const alt = self.renderInlineAsText(token?.children ?? [], options, env)
  const { project } = env as { project: string }
  if (attachment.test(src))
    return `<img src="/mail/${encodeURIComponent(project)}/${src}" alt="${escaped(alt)}" loading="lazy">`
  if (dataImage.test(src)) return `<img src="${src}" alt="${escaped(alt)}">`
  if (!/^https?:\/\//i.test(plain(src))) return escaped(alt)
  return `<a href="${escaped(plain(src))}" rel="noopener noreferrer nofollow">${escaped(alt || src)}</a>`
}

/** Keys, too, can scroll a block that is wider than the page. */
for (const block of ['fence', 'code_block'] as const) {
  const usual = markdown.renderer.rules[block]
  markdown.renderer.rules[block] = (...args) => usual?.(...args).replace(/^<pre>/, '<pre tabindex="0">') ?? ''
}

/** The second lock: what the renderer above is meant to let through, and nothing else. */
const rules: sanitize.IOptions = {
  allowedTags: [
    ...[
      'h3',
      'h4',
      'h5',
      'h6',
      'p',
      'blockquote',
      'ul',
      'ol',
      'li',
      'pre',
      'code',
      'span',
      'hr',
      'br',
      'strong',
      'em',
      's',
    ],
    ...['a', 'img', 'input', 'wbr', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  allowedAttributes: {
    a: ['href', 'rel', 'title'],
    img: ['src', 'alt', 'loading'],
    input: ['type', 'disabled', 'checked', 'aria-label'],
    ol: ['start'],
    code: ['class'],
    pre: ['tabindex'],
    span: ['class'],
    li: ['class'],
    th: ['class'],
    td: ['class'],
  },
  allowedClasses: {
    code: ['language-*'],
    span: ['hljs-*'],
    li: ['task'],
    th: ['center', 'right'],
    td: ['center', 'right'],
  },
  selfClosing: ['img', 'br', 'hr', 'input', 'wbr'],
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['data'] },
  allowProtocolRelative: false,
  nestingLimit: 60,
}

/** Columns are aligned by a class: the page allows no style. */
for (const cell of ['th_open', 'td_open'] as const)
  markdown.renderer.rules[cell] = (tokens, at, options, _env, self) => {
    const token = tokens[at]
    const align = /text-align:(center|right)/.exec(String(token?.attrGet('style') ?? ''))?.[1]
    if (token) token.attrs = align === undefined ? [] : [['class', align]]
    return self.renderToken(tokens, at, options)
  }

/** Marks that turn the direction of text around, and what is no character, are shown as a sign. */
const strange = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/gu

export function render(text: string, project: string): string {
  const clean = text.replace(strange, '\ufffd')
  return sanitize(markdown.render(clean, { project }), rules)
}
