/** How much two projects look like parts of one product: by their names and folders, and by who writes to whom. */
import { slugName } from '../../base/names.ts'

interface Likened {
  readonly slug: string
  /** Usually the absolute path of a repository. */
  readonly key: string
}

/** Contacts and messages between agents of the two projects. */
interface Dealings {
  readonly contacts: number
  readonly messages: number
}

export interface Likeness {
  readonly percent: number
  /** One sentence. */
  readonly reason: string
}

/** From this on a pair is suggested to people; from the lower one on, a language model is asked about it. */
export const suggestedFrom = 50
export const doubtfulFrom = 30

/** Words that name a part of a product rather than the product. */
const roles = new Set(
  'admin agent android api app backend cli client common console core dashboard db desktop docs front frontend gateway infra ios lib library mobile server service services shared site ui web website worker back'.split(
    ' ',
  ),
)

/** The strongest ground gives the reason; others make it likelier. */
export function liken(one: Likened, other: Likened, { contacts, messages }: Dealings): Likeness {
  const grounds = [names(one, other), folders(one.key, other.key), ...dealings(contacts, messages)]
    .filter((ground) => ground.percent > 0)
    .sort((a, b) => b.percent - a.percent)
  const [first, second] = grounds
  if (first === undefined) return { percent: 0, reason: 'Nothing connects them.' }
  const percent = grounds.reduce((left, ground) => left * (1 - ground.percent / 100), 1)
  const also = second === undefined ? '' : `, and ${second.reason}`
  const text = `${first.reason}${also}.`
  return { percent: Math.min(99, Math.round(100 * (1 - percent))), reason: text[0]?.toUpperCase() + text.slice(1) }
}

const none: Likeness = { percent: 0, reason: '' }

function names(one: Likened, other: Likened): Likeness {
  const [a, b] = [wordsOf(one), wordsOf(other)]
  const [mine, theirs] = [a.filter((word) => !roles.has(word)), b.filter((word) => !roles.has(word))]
  const shared = mine.filter((word) => theirs.includes(word))
  if (shared.length === 0) return none
  const all = new Set([...mine, ...theirs]).size
  if (shared.length === all)
    return { percent: 80, reason: `both are named ${JSON.stringify(shared.join('-'))}, each with a part of its own` }
  const percent = Math.round((60 * shared.length) / all)
  return { percent, reason: `their names share ${JSON.stringify(shared.join('-'))}` }
}

const wordsOf = ({ slug }: Likened): string[] =>
  slugName(slug)
    .split('-')
    .filter((word) => word.length > 1)

function folders(one: string, other: string): Likeness {
  const [a, b] = [one.split(/[\\/]+/).filter(Boolean), other.split(/[\\/]+/).filter(Boolean)]
  if (a.length === 0 || b.length === 0 || a[0] !== b[0]) return none
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (short.length > 1 && short.every((part, at) => part === long[at]))
    return { percent: 55, reason: 'the folder of one lies inside of the other' }
  const parent = a.at(-2)
  if (parent === undefined || a.slice(0, -1).join('/') !== b.slice(0, -1).join('/')) return none
  // As /shop/backend and /shop/frontend: the folder around them has the name of the product.
  if (isPart(a.at(-1)) && isPart(b.at(-1)))
    return { percent: 75, reason: `both are parts of the folder ${JSON.stringify(parent)}` }
  return a.length > 2 ? { percent: 20, reason: 'their folders lie side by side' } : none
}

/** A name that says which part of a product it is, and not of which. */
const isPart = (name = ''): boolean =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .every((word) => roles.has(word))

function dealings(contacts: number, messages: number): Likeness[] {
  return [
    contacts > 0 ? { percent: 45, reason: `agents of both are contacts (${contacts})` } : none,
    messages > 0
      ? {
          percent: messages > 9 ? 55 : 35,
          reason: `their agents write to each other (${messages} ${messages === 1 ? 'message' : 'messages'})`,
        }
      : none,
  ]
}
