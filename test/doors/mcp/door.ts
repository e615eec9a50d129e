/** A small door that shows everything the engine can do, and the world its tools work on. */
import { z } from 'zod'
import { HubError } from '../../../src/base/errors.ts'
import { type CallContext, type Door, defineTool, type Updates } from '../../../src/doors/mcp/table.ts'
import { prompts, talkingTools } from './talking.ts'

export interface FixtureScope {
  readonly agent: string
}

/** The state of the fixture's tools, for tests to read and to change. */
export class World {
  /** Mail that `pop` takes; the newest last. */
  mail: string[] = []
  putBacks: string[] = []
  /** How many more times the database is away when mail is put back. */
  busy = 0
  /** Contexts of the calls that began to wait, in order. */
  readonly waiting: CallContext<FixtureScope>[] = []
  /** How waits ended, in order. */
  readonly ends: string[] = []
  #hooks: (() => void)[] = []
  #releases: (() => void)[] = []

  /** Resolves when `there` holds; looked at whenever something happens. */
  async until(there: () => boolean): Promise<void> {
    while (!there()) await new Promise<void>((resolve) => this.#hooks.push(resolve))
  }

  /** Something happened. */
  stir(): void {
    for (const hook of this.#hooks.splice(0)) hook()
  }

  /** Called by a waiting tool: ends with its empty result when the server stops, or when nobody reads the answer any more. */
  async wait(context: CallContext<FixtureScope>): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    context.signal.addEventListener('abort', () => resolve('lost'))
    context.stopping.addEventListener('abort', () => resolve('stopping'))
    if (context.signal.aborted) resolve('lost')
    if (context.stopping.aborted) resolve('stopping')
    this.#releases.push(() => resolve('released'))
    this.waiting.push(context)
    this.stir()
    const end = await promise
    this.ends.push(end)
    this.stir()
    return end
  }

  /** Forgets what was, for the next test in the same process. */
  reset(): void {
    this.busy = 0
    this.waiting.length = 0
    this.ends.length = 0
  }

  /** Lets every waiting call go on. */
  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }

  /** Each change so far, in order: its place is its number. */
  readonly #changes: string[] = []
  readonly #followers = new Set<{ uris: readonly string[]; told: number; tell(uri: string, place: string): void }>()

  get updates(): Updates<FixtureScope> {
    const now = () => String(this.#changes.length)
    const isPlace = (text: string) => /^\d+$/.test(text) && Number(text) <= this.#changes.length
    return {
      begin: async () => now(),
      place: async (_, last) => (last !== undefined && isPlace(last) ? last : now()),
      follow: async (followed, _, { after, tell }) => {
        const told = after === undefined ? Math.min(...followed.map(({ since }) => Number(since))) : Number(after)
        const uris = followed.map(({ uri }) => uri)
        const follower = { uris, told, tell: (uri: string, place: string) => tell({ uri, place }) }
        this.#followers.add(follower)
        this.#tell()
        return () => this.#followers.delete(follower)
      },
    }
  }

  change(uri: string): void {
    this.#changes.push(uri)
    this.#tell()
  }

  #tell(): void {
    for (const follower of this.#followers)
      for (const uri of this.#changes.slice(follower.told)) {
        follower.told++
        if (follower.uris.includes(uri)) follower.tell(uri, String(follower.told))
      }
  }

  get watched(): string[] {
    return [...this.#followers].flatMap(({ uris }) => uris)
  }
}

export function fixtureDoor(world: World): Door<FixtureScope> {
  const tool = defineTool<FixtureScope>()
  const rest = { cluster: 'fixture', effect: 'read' as const }
  return {
    name: 'fixture',
    title: 'Fixture',
    instructions: 'A door for tests.',
    shortForm: true,
    tools: [
      tool({
        ...rest,
        name: 'echo',
        title: 'Echo',
        description: 'Says what it is told, and to whom.',
        input: z.strictObject({
          text: z.string().min(1).max(200_000).describe('What to say.'),
          times: z.number().int().min(1).max(3).default(1).describe('How often.'),
          tone: z.enum(['plain', 'loud']).optional().describe('How to say it.'),
        }),
        output: z.object({ text: z.string(), agent: z.string(), client: z.string() }),
        alwaysLoad: true,
        run: async ({ text, times, tone }, { scope, client }) => ({
          text: (tone === 'loud' ? text.toUpperCase() : text).repeat(times),
          agent: scope.agent,
          client: client === undefined ? 'unknown' : `${client.name} ${client.version}`,
        }),
      }),
      tool({
        ...rest,
        name: 'maybe',
        title: 'Maybe',
        description: 'Answers a list, or null.',
        input: z.strictObject({ count: z.number().optional().describe('How many.') }),
        output: z.array(z.number()).nullable(),
        wrapped: true,
        run: async ({ count }) => (count === undefined ? null : Array.from({ length: count }, (_, index) => index)),
      }),
      tool({
        ...rest,
        name: 'text',
        title: 'Text',
        description: 'Answers formatted text.',
        input: z.strictObject({}),
        run: async () => 'one\ntwo',
      }),
      tool({
        ...rest,
        name: 'wait',
        title: 'Wait',
        description: 'Waits until the test says so.',
        input: z.strictObject({}),
        output: z.object({ ended: z.string() }),
        run: async (_, context) => ({ ended: await world.wait(context) }),
      }),
      tool({
        ...rest,
        name: 'steer',
        title: 'Steer',
        description: 'Turns the world from outside, for tests that cannot reach into it.',
        input: z.strictObject({
          act: z.enum(['waiting', 'ended', 'release', 'touch', 'reset']).describe('What to do or to wait for.'),
          at: z.string().optional().describe('Which URI, or how many.'),
        }),
        output: z.object({ ends: z.array(z.string()) }),
        async run({ act, at = '1' }) {
          if (act === 'waiting') await world.until(() => world.waiting.length >= Number(at))
          if (act === 'ended') await world.until(() => world.ends.length >= Number(at))
          if (act === 'release') world.release()
          if (act === 'touch') world.change(at)
          if (act === 'reset') world.reset()
          return { ends: world.ends }
        },
      }),
      tool({
        ...rest,
        name: 'pop',
        title: 'Pop',
        description: 'Takes the oldest mail, after a wait if asked.',
        input: z.strictObject({ wait: z.boolean().default(false).describe('Wait first.') }),
        output: z.string().nullable(),
        wrapped: true,
        effect: 'write',
        destructive: true,
        async run({ wait }, context) {
          if (wait) await world.wait(context)
          const mail = world.mail.shift()
          if (mail === undefined) return null
          context.ifLost(async () => {
            if (world.busy-- > 0) throw new HubError('DB_BUSY', 'The database cannot be reached.')
            world.mail.unshift(mail)
            world.putBacks.push(mail)
            world.stir()
          })
          return mail
        },
      }),
      tool({
        ...rest,
        name: 'fail',
        title: 'Fail',
        description: 'Fails as a verb fails.',
        input: z.strictObject({ late: z.boolean().default(false).describe('Fail after taking mail.') }),
        output: z.object({ never: z.string() }),
        async run({ late }, context) {
          const mail = late ? world.mail.shift() : undefined
          if (mail !== undefined) context.ifLost(async () => void world.mail.unshift(mail))
          throw new HubError('MAILBOX_FULL', 'The mailbox of bob is full.', { hint: 'Wait until bob has read.' })
        },
      }),
      tool({
        ...rest,
        name: 'knot',
        title: 'Knot',
        description: 'Takes mail and answers what no JSON can say.',
        input: z.strictObject({}),
        output: z.object({}),
        async run(_, context) {
          const mail = world.mail.shift() ?? ''
          context.ifLost(async () => void world.mail.unshift(mail))
          const knot: Record<string, unknown> = {}
          knot.self = knot
          return knot
        },
      }),
      tool({
        ...rest,
        name: 'crash',
        title: 'Crash',
        description: 'Fails as nothing should.',
        input: z.strictObject({}),
        output: z.object({ never: z.string() }),
        run: async () => {
          throw new Error('secret detail')
        },
      }),
      ...talkingTools(world),
    ],
    prompts,
    resources: [
      {
        uri: 'test://static',
        name: 'static',
        description: 'Always the same.',
        read: async () => ({ always: 'the same' }),
      },
      {
        uri: 'test://inbox/{agent}{?project,limit}',
        name: 'inbox',
        description: 'An inbox.',
        read: async (params, { scope }) => {
          if (params.agent === 'nobody') throw new HubError('MESSAGE_NOT_FOUND', 'Nobody has no inbox.')
          if (params.agent === 'crash') throw new Error('secret detail')
          return { ...params, reader: scope.agent }
        },
      },
    ],
    updates: world.updates,
  }
}
