/** The routes below /people: what `parley inbox`, `send`, `watch` and the like ask of a server, a row each. */
import { z } from 'zod'
import { commons } from '../../base/names.ts'
import { type Desk, mostListed } from '../words/desk.ts'
import { title } from '../words/fields.ts'
import { numberParameter } from '../words/parameters.ts'

interface PeopleRoute<Input extends z.ZodObject = z.ZodObject> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Of the query where it is a GET, else of the body. */
  readonly input: Input
  run(desk: Desk, input: z.output<Input>): Promise<object>
}

const row = <Input extends z.ZodObject>(route: PeopleRoute<Input>): PeopleRoute => route as unknown as PeopleRoute

/** Whether it names something is for the verb to find out. */
const name = z.string().min(1, 'must not be empty').max(1000, 'must have at most 1000 characters').optional()
const message = numberParameter(1, Number.MAX_SAFE_INTEGER)
const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((word) => word === 'true')
  .optional()
const text = z.string({ error: 'must be a text' })

const list = { project: name, limit: numberParameter(1, mostListed).default(20), before: message.optional() }

export const followInput = z.object({ project: name, thread: name })

export const peopleRoutes: readonly PeopleRoute[] = [
  row({
    method: 'GET',
    path: '/people/inbox',
    input: z.object({ ...list, name, from: name, unread: flag, sent: flag }),
    run: (desk, wish) => desk.inbox(wish),
  }),
  row({
    method: 'GET',
    path: '/people/threads',
    input: z.object(list),
    run: (desk, wish) => desk.threads(wish),
  }),
  row({
    method: 'GET',
    path: '/people/message',
    input: z.object({ id: message }),
    run: (desk, { id }) => desk.read(id),
  }),
  row({
    method: 'GET',
    path: '/people/trace',
    input: z.object({ id: message }),
    run: (desk, { id }) => desk.trace(id),
  }),
  row({
    method: 'GET',
    path: '/people/search',
    input: z.object({
      query: text,
      project: name,
      limit: list.limit,
      page: numberParameter(1, 1_000_000).default(1),
      newest: flag,
    }),
    run: (desk, wish) => desk.search(wish),
  }),
  row({
    method: 'GET',
    path: '/people/agents',
    input: z.object({ project: name, limit: list.limit, within: message.optional() }),
    run: (desk, wish) => desk.agents(wish),
  }),
  row({
    method: 'GET',
    path: '/people/waiting',
    input: z.object({}),
    run: (desk) => desk.waiting(),
  }),
  row({
    method: 'POST',
    path: '/people/send',
    input: z.object({
      to: z.array(text, { error: 'must be a list of names' }).max(1000, 'must have at most 1000 names'),
      project: name,
      subject: text.optional(),
      thread: text.optional(),
      body: text,
    }),
    run: (desk, sending) => desk.send(sending),
  }),
  row({
    method: 'POST',
    path: '/people/reply',
    input: z.object({ id: z.int({ error: 'must be the number of a message' }).min(1), body: text }),
    run: (desk, answer) => desk.reply(answer),
  }),
  row({
    method: 'POST',
    path: '/people/topics',
    input: z.object({ name: title, project: name.default(commons) }),
    run: (desk, { name, project = commons }) => desk.createTopic({ name, project }),
  }),
]
