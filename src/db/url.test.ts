/** A database URL as it is shown: without secrets. */
import { expect } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { shownUrl } from './url.ts'

verifies('mail.health.no-secrets', 'A database URL is shown without user, password and parameters', () => {
  expect(shownUrl('sqlite:/srv/parley.sqlite3')).toBe('sqlite:/srv/parley.sqlite3')
  expect(shownUrl('postgres://me:hidden@db.example:5433/parley?password=hidden&sslmode=require#hidden')).toBe(
    'postgres://db.example:5433/parley',
  )
  expect(shownUrl('postgresql+asyncpg://me:hidden@[::1]/parley')).toBe('postgres://[::1]/parley')
  expect(shownUrl('postgres:///parley?host=/run/postgres&password=hidden')).toBe('postgres:///parley')
  for (const unencoded of ['hid@den', '12/hidden', 'hid#den', 'hid?den', 'hid den', 'a:hidden'])
    expect(shownUrl(`postgres://me:${unencoded}@db.example/parley`)).not.toMatch(/hid|den|12/)
})
