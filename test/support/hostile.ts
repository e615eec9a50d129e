/** Content that means harm, in every field that an agent can write. */
import { local } from '../../src/core/access/callers.ts'
import { register } from '../../src/core/agents/registration.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { reserve } from '../../src/core/leases/leases.ts'
import { send } from '../../src/core/messages/send.ts'
import { join } from '../../src/core/topics/members.ts'
import { sync } from '../../src/core/topics/sync.ts'
import { createTopic } from '../../src/core/topics/topics.ts'
import type { TestClock } from './clock.ts'
import { registered } from './hub.ts'
import { plain, session } from './topics.ts'

/** A text that does something wherever it is not escaped. */
export const attacks = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  '</title><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  '--><script>alert(1)</script>',
  'x" autofocus onfocus="alert(1)',
  '\u202egnp.exe <b>bold</b>',
] as const

/** Bodies: addresses in all spellings, HTML, images of others, and what keeps a parser busy. */
export const hostileBodies = [
  '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java\nscript:alert(1)) [d](&#106;avascript:alert(1)) [e]( \u0001javascript:alert(1))',
  '[f](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) [g](vbscript:x) [h](//evil.example/x) [i](file:///etc/passwd)',
  '![p](https://evil.example/pixel.png) ![q](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+) ![r](javascript:alert(1))',
  '<iframe src="https://evil.example"></iframe><style>*{display:none}</style><base href="https://evil.example">',
  '<img src=x onerror=alert(1)><svg><script>alert(1)</script></svg><math><mi xlink:href="javascript:alert(1)">',
  '```html\n<script>alert(1)</script>\n```\n\n`<script>alert(1)</script>`\n\n| <b> | x |\n|---|---|\n| <script>alert(1)</script> | y |',
  `${'>'.repeat(5000)} deep`,
  '**'.repeat(20_000),
  '[a]('.repeat(5000),
  `# ${'heading '.repeat(200)}\n\n${'word'.repeat(3000)}`,
] as const

/** As much as a message may hold of what a parser of Markdown takes longest for. */
const endless = '**'.repeat(512 * 1024)

const folder = '/srv/repos/<script>alert(1)</script>'

export async function seedHostile(hub: Hub, clock: TestClock): Promise<void> {
  clock.set(Date.now())
  for (const [n, name] of ['GreenCastle', 'BlueLake', 'RedStone'].entries())
    await register(hub, local, {
      project: folder,
      name,
      program: attacks[n] ?? '',
      model: attacks[n + 1] ?? '',
      task: attacks[n + 2] ?? '',
    })
  const from = registered('GreenCastle', folder)
  for (const [n, subject] of attacks.entries())
    await send(hub, from, {
      to: [{ name: 'BlueLake' }],
      subject,
      body: attacks[n + 1] ?? subject,
      thread: `<i>${n}</i>"'`,
      importance: 'urgent',
    })
  for (const [n, body] of hostileBodies.entries())
    await send(hub, from, {
      to: [{ name: 'BlueLake' }, { name: 'RedStone' }],
      subject: `Body ${n}`,
      body,
      thread: 'bodies',
    })
  await send(hub, from, { to: [{ name: 'BlueLake' }], subject: 'Endless', body: endless, thread: 'endless' })
  await reserve(hub, from, {
    patterns: ['src/<script>alert(1)</script>/**', 'a"onload="x'],
    reason: attacks[1],
    exclusive: true,
    ttlMs: 3_600_000,
    onConflict: 'grant',
  })
  const topic = await createTopic(hub, local, folder, { name: attacks[0], mode: 'new' })
  const holder = { ...session('hostile'), project: folder }
  await join(hub, holder, { topic, name: '<b>peer</b>', token: undefined })
  await sync(hub, holder, topic.uid, { ...plain, outbox: [{ body: attacks[1], kind: 'message' }] })
}
