/** Attached files over HTTP, and forms that are shown again. */
import { describe, expect } from 'vitest'
import { newDesk } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { noise, uriOf } from '../../support/pictures.ts'
import { verifies } from '../../support/verifies.ts'
import { visitor } from '../../support/web.ts'

const parley = shareServer({ env: { INLINE_IMAGE_MAX_BYTES: '0' } })

interface Listed {
  messages: { project: string; attachments: { path: string; media_type: string; bytes: number }[] }[]
}

describe('Attached files', () => {
  verifies('web.files.saved', 'are saved, whatever they say they are; raster images are shown', async () => {
    const desk = await newDesk(parley())
    const picture = uriOf('image/png', await noise(64, 64).png().toBuffer())
    const page = uriOf('text/html', Buffer.from('<script>alert(1)</script>'))
    await desk.send({ attachment_paths: [picture, page] })
    const ann = visitor(parley().url)
    const { projects } = await ann.data<{ projects: { slug: string; messages: number }[] }>('/mail/projects')
    const slug = projects.find(({ messages }) => messages > 0)?.slug ?? ''
    const { messages } = await ann.data<Listed>(`/mail/${slug}/attachments`)
    const files = messages.flatMap(({ attachments }) => attachments)
    expect(files).toHaveLength(2)
    for (const { path, media_type, bytes } of files) {
      const file = await ann.get(`/mail/${slug}/${path}`)
      const shown = media_type.startsWith('image/')
      expect(file.status).toBe(200)
      expect(file.headers.get('content-type')).toBe(shown ? media_type : 'application/octet-stream')
      expect(file.headers.get('content-disposition')).toMatch(
        shown ? /^inline$/ : /^attachment; filename="[0-9a-f]{40}\./,
      )
      expect(file.headers.get('content-length')).toBe(String(bytes))
      expect(file.headers.get('x-content-type-options')).toBe('nosniff')
      expect(file.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    }
    expect(files.map(({ media_type }) => media_type.split('/')[0]).sort()).toEqual(['image', 'text'])
    const { text } = await ann.get(`/mail/${slug}/attachments`)
    expect(text.match(/<img src="\/mail\/[^"]+\.webp" alt="" loading="lazy">/g)).toHaveLength(1)
    for (const path of ['attachments/ab/none.webp', `attachments/ab/${'0'.repeat(40)}.webp`, 'attachments/%2e%2e/x'])
      expect((await ann.get(`/mail/${slug}/${path}`)).status).toBe(404)
  })
})

describe('A form with a fault', () => {
  verifies('web.forms.faults', 'is shown again with all that was typed, and nothing is sent', async () => {
    await newDesk(parley())
    const ann = visitor(parley().url)
    const { projects } = await ann.data<{ projects: { slug: string; agents: number; messages: number }[] }>(
      '/mail/projects',
    )
    const slug = projects.find(({ agents, messages }) => agents > 0 && messages === 0)?.slug ?? ''
    const path = `/mail/${slug}/overseer/compose`
    await ann.get(path)
    const typed = '\nA "first" line\n</textarea><script>x</script>'
    const shown = await ann.post(path, { recipients: ['BlueLake'], subject: '', body_md: typed, thread_id: 'T-1' })
    expect(shown.status).toBe(422)
    expect(shown.text).toContain('aria-describedby="subject-fault"')
    expect(shown.text).toContain('value="BlueLake" checked')
    expect(shown.text).toContain('value="T-1"')
    expect(shown.text).toContain(
      '\n\nA &quot;first&quot; line\n&lt;/textarea&gt;&lt;script&gt;x&lt;/script&gt;</textarea>',
    )
    expect(shown.text).not.toContain('data-events')
    const { projects: after } = await ann.data<{ projects: { slug: string; messages: number }[] }>('/mail/projects')
    expect(after.find((project) => project.slug === slug)?.messages).toBe(0)
    expect((await ann.post(path, { subject: 'Stop', body_md: 'x', recipients: [] })).status).toBe(422)
    expect((await ann.post(path, { subject: 'Stop', body_md: 'x', recipients: ['Nobody'] })).status).toBe(422)
  })
})
