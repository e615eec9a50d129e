/** A GET that brings no session: every door of MCP says that it takes a POST. */
import { expect } from 'vitest'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

verifies('all.http.no-session', 'is 405 and allows POST, whatever it accepts', async () => {
  for (const path of ['/mcp', '/mcp/', '/hub/mcp?agent=alice', '/bus/mcp?agent=alice', '/agents/alice/mcp'])
    for (const accept of ['text/event-stream', 'text/html', '*/*']) {
      const { status, headers } = await fetch(`${parley().url}${path}`, { headers: { accept } })
      expect([path, status, headers.get('allow')]).toEqual([path, 405, 'POST'])
    }
})
