/** The lines of Needs you as plain sentences, for desktop notifications. */
import type { DeadLetter } from '../../../core/pages/dead-letters.ts'
import type { NeedLines } from '../../../core/pages/needs.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { subjectShown } from './people.ts'

interface NeedText {
  /** The same line has the same id on every page. */
  readonly id: string
  readonly project: string
  readonly text: string
}

export function needTexts({
  answers,
  questions,
  contacts,
  conflicts,
  debtors,
  stuck,
  loops,
  dead,
}: NeedLines): NeedText[] {
  const text = (id: string, project: string, says: string): NeedText => ({ id, project, text: says.slice(0, 300) })
  return [
    ...answers.map(({ id, project, from, subject }) =>
      text(`answer-${id}`, project, `${from.name} wrote to you: ${subjectShown(subject)}`),
    ),
    ...conflicts.map(({ project, holder, other }) =>
      text(
        `lease-${holder.id}-${other.id}`,
        project,
        `${other.agent} wants ${other.pattern}, which ${holder.agent} holds`,
      ),
    ),
    ...contacts.map(({ id, from, to }) =>
      text(`contact-${id}`, to.project, `${from.name} asks to write to ${to.name}`),
    ),
    ...questions.map(({ id, project, from, excerpt }) =>
      text(`question-${id}`, project, `${from.name} asks: ${plainly(excerpt)}`),
    ),
    ...debtors.map(({ agent }) => text(`ack-${agent.id}`, agent.project, `${agent.name} owes an acknowledgement`)),
    ...stuck.map(({ id, name, project }) => text(`stuck-${id}`, project, `${name} is stuck`)),
    ...loops.map(({ id, project, agents }) => text(id, project, `${agents.join(', ')} only answered each other`)),
    ...dead.map(({ message, recipient }) =>
      text(deadId({ message, recipient }), recipient.project, `${recipient.name} never confirmed a message`),
    ),
  ]
}

export const deadId = ({ message, recipient }: Pick<DeadLetter, 'message' | 'recipient'>): string =>
  `dead-${message.id}-${recipient.project}-${recipient.name}`
