/** Bodies of messages: what they become, and what hostile ones cost others. */
import { describe, expect, onTestFinished } from 'vitest'
import { hostileBodies } from '../../../../test/support/hostile.ts'
import { verifies } from '../../../../test/support/verifies.ts'
import { strangeIn } from '../../../../test/support/web.ts'
import { Bodies } from './bodies.ts'
import { render } from './render.ts'

const shown = (text: string): string => render(text, 'shop-3f9a1c').trim()

describe('Markdown', () => {
  verifies('web.markdown.shown', 'is shown as GitHub shows it', () => {
    expect(shown('# One\n\n###### Six')).toBe('<h3>One</h3>\n<h6>Six</h6>')
    expect(shown('~~gone~~ **bold**')).toBe('<p><s>gone</s> <strong>bold</strong></p>')
    expect(shown('- [ ] a\n- [x] b')).toMatch(
      /<li class="task"><input type="checkbox" disabled(="")? aria-label="to do" \/> a<\/li>/,
    )
    expect(shown('- [ ] a\n- [x] b')).toMatch(/disabled(="")? checked(="")? aria-label="done" \/> b/)
    expect(shown('| a | b |\n|---|--:|\n| 1 | 2 |')).toContain('<td class="right">2</td>')
    expect(shown('```js\nconst a = 1\n```')).toContain('<span class="hljs-keyword">const</span>')
    expect(shown(`\`\`\`js\n${'const a = 1\n'.repeat(1000)}\`\`\``)).not.toContain('hljs')
    expect(shown('https://example.com')).toBe(
      '<p><a href="https://example.com" rel="noopener noreferrer nofollow">https://example.com</a></p>',
    )
  })

  verifies('web.looks.words', 'lets a long path break at its slashes, and no other', () => {
    const path = `packages/${'x'.repeat(20)}/<b>.ts`
    const broken = `packages/<wbr />${'x'.repeat(20)}/<wbr />&lt;b&gt;.ts`
    expect(shown(`See ${path} and a/b, \`${path}\` and \`a/b\``)).toBe(
      `<p>See ${broken} and a/b, <code>${broken}</code> and <code>a/b</code></p>`,
    )
  })

  verifies('web.markdown.safe', 'lets links lead to few places, and loads no image of others', () => {
    for (const url of [
      'javascript:alert(1)',
      'JAVASCRIPT:x',
      'data:text/html,x',
      'vbscript:x',
      '//evil.example',
      'file:///x',
      'docs/a.md',
      '/mail/logout',
      'java&#10;script:x',
      '&#x6A;avascript:x',
    ])
      expect(shown(`[a](${url})`), url).not.toContain('href')
    for (const url of ['http://a.example/', 'https://a.example/', 'mailto:a@b.example', '#part'])
      expect(shown(`[a](${url})`), url).toContain(`href="${url}"`)
    expect(shown('![a](https://a.example/x.png)')).toBe(
      '<p><a href="https://a.example/x.png" rel="noopener noreferrer nofollow">a</a></p>',
    )
    const path = `attachments/ab/${'0'.repeat(40)}.webp`
    expect(shown(`![a](${path})`)).toBe(`<p><img src="/mail/shop-3f9a1c/${path}" alt="a" loading="lazy" /></p>`)
    expect(shown('![a](data:image/png;base64,AAAA)')).toContain('src="data:image/png;base64,AAAA"')
    for (const url of ['data:image/svg+xml;base64,AAAA', 'attachments/../x.png', 'x.png'])
      expect(shown(`![a](${url})`)).toBe('<p>a</p>')
    expect(shown('<b onclick="x">hi</b>')).toBe('<p>&lt;b onclick="x"&gt;hi&lt;/b&gt;</p>')
  })

  verifies('web.markdown.safe', 'stays text and plain markup, whatever a body holds', () => {
    for (const body of hostileBodies) {
      expect(strangeIn(shown(body)), body.slice(0, 60)).toEqual([])
      expect(shown(body)).not.toMatch(/evil\.example\/pixel\.png"[^>]*alt|<(script|iframe|svg|style)/)
    }
  })
})

describe('Bodies', () => {
  const open = (options?: ConstructorParameters<typeof Bodies>[0]): Bodies => {
    const bodies = new Bodies(options)
    onTestFinished(() => bodies.close())
    return bodies
  }

  verifies(
    'web.markdown.slow',
    'that take too long are text, those before them are not, and others are rendered after them',
    async () => {
      const bodies = open({ patienceMs: 0 })
      const slow = '**a*'.repeat(16_000)
      const [first] = await bodies.render('p', [{ key: '1', text: slow }])
      expect(`${first}`).toMatch(/^<div class="body" dir="auto"><pre class="plain">\*\*a\*/)
      const patient = open()
      const shown = await patient.render('p', [{ key: '1', text: '**bold**' }, { text: '' }])
      expect(`${shown[0]}`).toContain('<strong>bold</strong>')
    },
  )

  verifies('web.markdown.slow', 'are rendered beside the event loop', async () => {
    const bodies = open({ patienceMs: 10_000 })
    await bodies.render('p', [{ text: 'warm' }])
    let turns = 0
    let done = false
    const count = () => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    await bodies.render('p', [{ text: '**a*'.repeat(16_000) }])
    done = true
    expect(turns).toBeGreaterThan(2)
  })

  verifies('web.markdown.slow', 'find their thread started by the page before', async () => {
    let started = 0
    const count = () => started++
    process.on('worker', count)
    onTestFinished(() => void process.off('worker', count))
    const bodies = open({ soonMs: 0 })
    bodies.expect()
    bodies.expect()
    await expect.poll(() => started).toBe(1)
    expect(`${await bodies.render('p', [{ text: '*one*' }])}`).toContain('<em>one</em>')
    expect(started).toBe(1)
  })

  verifies('web.markdown.long', 'above 64 KB are text, cut, with a link to all of it', async () => {
    const [long] = await open().render('p', [
      { text: `**b** ${'x'.repeat(70_000)}`, whole: '/mail/p/message/1?format=md' },
    ])
    expect(`${long}`).toContain('<pre class="plain">**b** xxx')
    expect(`${long}`).toContain('<a href="/mail/p/message/1?format=md">All 70006 characters</a>')
    expect(`${long}`.length).toBeLessThan(67_000)
  })

  verifies('web.markdown.shown', 'are kept by their message', async () => {
    const bodies = open()
    await bodies.render('p', [{ key: '7', text: '*once*' }])
    expect(`${await bodies.render('p', [{ key: '7', text: 'never looked at' }])}`).toContain('<em>once</em>')
    expect(`${await bodies.render('q', [{ key: '7', text: 'other' }])}`).toContain('other')
  })
})
