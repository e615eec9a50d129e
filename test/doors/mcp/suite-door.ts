/** A door with the tools, resources and prompts that the protocol's own suite asks for; only tests and the conformance run start it. */
import type { ContentBlock, ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { systemClock } from '../../../src/base/clock.ts'
import { HubError } from '../../../src/base/errors.ts'
import {
  type CallContext,
  Contents,
  type Dialogue,
  type Door,
  defineTool,
  type Prompt,
  type Question,
  RawContent,
  type Tool,
} from '../../../src/doors/mcp/table.ts'
import type { FixtureScope } from './door.ts'
import { hastyClock } from './engine.ts'

const tool = defineTool<FixtureScope>()
const rest = {
  title: 'Fixture',
  description: 'For the conformance suite.',
  cluster: 'suite',
  effect: 'read' as const,
  input: z.strictObject({}),
}

/** One pixel, and a tenth of a millisecond of silence. */
const image: ContentBlock = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
}
const audio: ContentBlock = {
  type: 'audio',
  mimeType: 'audio/wav',
  data: 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==',
}
const resource = (uri: string, mimeType: string, text: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})
const text = (text: string): ContentBlock => ({ type: 'text', text })

const shows = (name: string, blocks: readonly ContentBlock[]) =>
  tool({ ...rest, name, run: async () => new Contents(blocks) })

/** A tool that asks, and answers what it was told. */
const asks = (name: string, run: (dialogue: Dialogue) => Promise<unknown>) =>
  tool({ ...rest, name, talks: true, run: async (_, context) => JSON.stringify(await run(dialogueOf(context))) })

function dialogueOf({ dialogue }: CallContext<FixtureScope>): Dialogue {
  if (dialogue === undefined) throw new HubError('INVALID_ARGUMENT', 'This client cannot be talked with.')
  return dialogue
}

type Properties = ElicitRequestFormParams['requestedSchema']['properties']

const form = (message: string, properties: Properties, required = Object.keys(properties)) => ({
  method: 'elicitation/create' as const,
  params: { mode: 'form' as const, message, requestedSchema: { type: 'object' as const, properties, required } },
})
const sample = (prompt: string) => ({
  method: 'sampling/createMessage' as const,
  params: { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }], maxTokens: 100 },
})
const name = form('What is your name?', { name: { type: 'string' } })
const confirm = form('Please confirm', { ok: { type: 'boolean' } })
const roots = { method: 'roots/list' as const, params: {} }

const options = ['option1', 'option2', 'option3']
const titled = [
  { const: 'value1', title: 'First' },
  { const: 'value2', title: 'Second' },
]

const contentTools = [
  shows('test_image_content', [image]),
  shows('test_audio_content', [audio]),
  shows('test_embedded_resource', [resource('test://embedded-resource', 'text/plain', 'An embedded resource.')]),
  shows('test_multiple_content_types', [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]),
]

/** Before 2026-07-28 they ask on the stream of the call. */
const askingTools = [
  tool({
    ...rest,
    name: 'test_sampling',
    input: z.strictObject({ prompt: z.string().describe('A prompt.') }),
    talks: true,
    run: async ({ prompt }, context) => JSON.stringify(await dialogueOf(context).ask({ sampled: sample(prompt) })),
  }),
  tool({
    ...rest,
    name: 'test_elicitation',
    input: z.strictObject({ message: z.string().describe('A message.') }),
    talks: true,
    async run({ message }, context) {
      const asked = form(message, { username: { type: 'string' }, email: { type: 'string' } })
      return JSON.stringify(await dialogueOf(context).ask({ asked }))
    },
  }),
  asks('test_elicitation_sep1034_defaults', (dialogue) =>
    dialogue.ask({
      defaults: form('Are these right?', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    }),
  ),
  asks('test_elicitation_sep1330_enums', (dialogue) =>
    dialogue.ask({
      enums: form('Choose.', {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      }),
    }),
  ),
]

/** Since then they ask by their result. */
const roundTools = [
  asks('test_input_required_result_elicitation', (dialogue) => dialogue.ask({ user_name: name })),
  asks('test_input_required_result_sampling', (dialogue) =>
    dialogue.ask({ capital_question: sample('What is the capital of France?') }),
  ),
  asks('test_input_required_result_list_roots', (dialogue) => dialogue.ask({ client_roots: roots })),
  asks('test_input_required_result_request_state', async (dialogue) => {
    await dialogue.ask({ confirm })
    return 'state-ok'
  }),
  asks('test_input_required_result_tampered_state', (dialogue) => dialogue.ask({ confirm })),
  asks('test_input_required_result_multiple_inputs', (dialogue) =>
    dialogue.ask({ user_name: name, greeting: sample('Generate a greeting'), client_roots: roots }),
  ),
  asks('test_input_required_result_multi_round', async (dialogue) => {
    const { step1 } = await dialogue.ask({ step1: name })
    const { step2 } = await dialogue.ask({ step2: form('Which colour?', { color: { type: 'string' } }) })
    return [step1.content, step2.content]
  }),
  asks('test_input_required_result_capabilities', (dialogue) => {
    const questions: Question[] = [name, sample('Generate a greeting')]
    const taken = questions.filter(({ method }) => dialogue.can(method))
    return dialogue.ask(Object.fromEntries(taken.map((question) => [question.method, question])))
  }),
  asks('test_missing_capability', (dialogue) => dialogue.ask({ sampled: sample('Hello') })),
  asks('test_streaming_elicitation', (dialogue) => dialogue.ask({ user_name: name })),
]

/** The tools of the tasks extension. The suite looks for results among contents, so they have a shape. */
const taskTools = [
  tool({
    ...rest,
    name: 'greet',
    input: z.strictObject({ name: z.string().describe('A name.') }),
    run: async ({ name }) => `Hello, ${name}!`,
  }),
  tool({
    ...rest,
    name: 'slow_compute',
    input: z.strictObject({
      seconds: z.number().describe('How long.'),
      label: z.string().optional().describe('A label.'),
    }),
    output: z.object({ done: z.boolean() }),
    task: () => true,
    run: ({ seconds }, { signal }) =>
      new Promise((resolve) => {
        const cancel = systemClock.after(seconds * 1000, () => resolve({ done: true }))
        signal.addEventListener('abort', () => {
          cancel()
          resolve({ done: false })
        })
      }),
  }),
  tool({
    ...rest,
    name: 'failing_job',
    output: z.object({}),
    task: () => true,
    run: () => Promise.reject(new HubError('INVALID_ARGUMENT', 'This job intentionally fails for testing')),
  }),
]

const logs = (name: string): Tool<FixtureScope> =>
  asks(name, async (dialogue) => {
    for (const step of ['started', 'processing data', 'completed']) dialogue.log('info', `Tool execution ${step}`)
  })

const prompts: readonly Prompt<FixtureScope>[] = [
  prompt('test_simple_prompt', [], () => [text('This is a simple prompt for testing.')]),
  prompt('test_prompt_with_arguments', ['arg1', 'arg2'], ({ arg1, arg2 }) => [
    text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ]),
  prompt('test_prompt_with_embedded_resource', ['resourceUri'], ({ resourceUri = '' }) => [
    resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.'),
  ]),
  prompt('test_prompt_with_image', [], () => [image, text('Please analyze the image above.')]),
  {
    ...prompt('test_input_required_result_prompt', [], () => []),
    talks: true,
    async get(_, context) {
      const asked = form('What context should the prompt use?', { context: { type: 'string' } })
      const { user_context } = await dialogueOf(context).ask({ user_context: asked })
      return [{ role: 'user', content: { type: 'text', text: JSON.stringify(user_context.content) } }]
    },
  },
]

function prompt(
  name: string,
  needed: readonly string[],
  say: (args: Readonly<Record<string, string>>) => readonly ContentBlock[],
): Prompt<FixtureScope> {
  return {
    name,
    title: 'Fixture',
    description: 'For the conformance suite.',
    arguments: needed.map((name) => ({ name, description: 'An argument.', required: true })),
    get: async (args) => say(args).map((content) => ({ role: 'user', content })),
  }
}

export function suiteDoor(): Door<FixtureScope> {
  return {
    name: 'suite',
    title: 'Conformance',
    instructions: '',
    tools: [
      tool({ ...rest, name: 'test_simple_text', run: async () => 'This is a simple text response for testing.' }),
      tool({
        ...rest,
        name: 'test_error_handling',
        run: () =>
          Promise.reject(new HubError('INVALID_ARGUMENT', 'This tool intentionally returns an error for testing')),
      }),
      tool({
        ...rest,
        name: 'test_tool_with_progress',
        // Ticks come every 5 s of this clock, which are 5 ms: three must have come, also on a busy machine.
        run: () => new Promise((resolve) => void hastyClock.after(500_000, () => resolve('done'))),
      }),
      logs('test_tool_with_logging'),
      logs('test_logging_tool'),
      ...contentTools,
      ...askingTools,
      ...roundTools,
      ...taskTools,
    ],
    prompts,
    resources: [
      {
        uri: 'test://static-text',
        name: 'text',
        description: 'Text.',
        read: async () => 'This is the content of the static text resource.',
      },
      {
        uri: 'test://static-binary',
        name: 'binary',
        description: 'Bytes.',
        read: async () => new RawContent('image/png', Buffer.from('89504e470d0a1a0a', 'hex')),
      },
      {
        uri: 'test://template/{id}/data',
        name: 'template',
        description: 'By id.',
        read: async ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
    complete: async () => [],
    updates: { begin: async () => '', place: async () => '', follow: async () => () => {} },
  }
}
