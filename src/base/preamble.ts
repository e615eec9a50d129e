/** The preamble of messages from people: agents read it, people are shown what they wrote below it. */
import { isReserved } from './names.ts'

/** The beginning of every message from people (web.overseer.preamble). */
export const preamble = `---

🚨 MESSAGE FROM HUMAN OVERSEER 🚨

This message is from a human operator overseeing this project. Please prioritize
the instructions below over your current tasks.

You should:
1. Temporarily pause your current work
2. Complete the request described below
3. Resume your original plans afterward (unless modified by these instructions)

The human's guidance supersedes all other priorities.

---

`

/** The body as agents will see it. */
export const withPreamble = (body: string): string => preamble + body

/** The words that a sender wrote itself. An agent that copies the preamble is shown with it (web.overseer.folded). */
export const ownWords = (sender: string, body: string): string =>
  isReserved(sender) && body.startsWith(preamble) ? body.slice(preamble.length) : body
