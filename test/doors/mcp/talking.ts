/** The part of the fixture that talks with its client: questions, notes, pictures and prompts. */
import { z } from 'zod'
import { HubError } from '../../../src/base/errors.ts'
import { Contents, defineTool, type Prompt } from '../../../src/doors/mcp/table.ts'
import type { FixtureScope, World } from './door.ts'

export const image = { type: 'image' as const, mimeType: 'image/png', data: 'iVBORw0KGgo=' }

export const named = {
  method: 'elicitation/create' as const,
  params: {
    mode: 'form' as const,
    message: 'What is your name?',
    requestedSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } }, required: ['name'] },
  },
}

const greeting = (name: unknown) => ({
  method: 'sampling/createMessage' as const,
  params: {
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Greet ${name}.` } }],
    maxTokens: 50,
  },
})

export function talkingTools(world: World) {
  const tool = defineTool<FixtureScope>()
  const rest = { cluster: 'fixture', effect: 'read' as const, title: 'Talk' }
  return [
    tool({
      ...rest,
      name: 'survey',
      description: 'Takes mail, asks for a name, and then for a greeting.',
      input: z.strictObject({ topic: z.string().default('names').describe('What about.') }),
      output: z.object({ name: z.unknown(), greeting: z.unknown(), mail: z.string() }),
      talks: true,
      async run(_, context) {
        const { dialogue } = context
        if (dialogue === undefined) throw new HubError('INVALID_ARGUMENT', 'This client cannot be talked with.')
        const mail = world.mail.shift() ?? ''
        context.ifLost(async () => void world.mail.unshift(mail))
        dialogue.log('info', 'asking')
        const { name } = await dialogue.ask({ name: named })
        const { greeted } = await dialogue.ask({ greeted: greeting(name.content?.name) })
        dialogue.log('debug', 'asked')
        return { name: name.content?.name, greeting: greeted.content, mail }
      },
    }),
    tool({
      ...rest,
      name: 'picture',
      description: 'Answers a picture and a word.',
      input: z.strictObject({}),
      run: async () => new Contents([image, { type: 'text', text: 'a picture' }]),
    }),
  ]
}

export const prompts: readonly Prompt<FixtureScope>[] = [
  {
    name: 'welcome',
    title: 'Welcome',
    description: 'Welcomes somebody.',
    arguments: [{ name: 'who', description: 'Whom.', required: true }],
    get: async ({ who }, { scope }) => [
      { role: 'user', content: { type: 'text', text: `Welcome ${who}, says ${scope.agent}.` } },
      { role: 'assistant', content: image },
    ],
  },
]
