/** `parley list-projects` as people and scripts run it, beside a server whose agents register. */
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { callTool, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

verifies(
  'cli.projects.list',
  'lists what agents have made beside it, and says what is wrong with a number',
  async () => {
    const project_key = '/srv/code/web'
    const { structuredContent } = await callTool(`${parley().url}/mcp`, 'register_agent', {
      project_key,
      name: 'GreenCastle',
      program: 'codex',
    })
    const text = await printedBy(parley(), ['list-projects'])
    expect(text).toMatch(
      /^slug\tkey\tagents\tcreated\ncommons\tcommons\t0\t\S+Z\nweb-\w{6}\t\/srv\/code\/web\t1\t\S+Z\n$/,
    )
    const json = await printedBy(parley(), ['list-projects', '--include-agents', '--json'])
    expect(JSON.parse(json)).toMatchObject({
      projects: [
        { slug: 'commons', agents: [] },
        { human_key: project_key, agents: [{ id: structuredContent?.id, name: 'GreenCastle', program: 'codex' }] },
      ],
      count: 2,
      has_more: false,
    })
    expect(await parleyCommand(parley(), ['list-projects', '--limit', '0'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a whole number, 1 or more.'),
    })
  },
)
