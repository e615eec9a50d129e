/** A name that nobody has answered to: its mail waits, and its sender must notice. */

interface Unseen {
  readonly name: string
  /** Whether this send made the agent. */
  readonly made?: boolean | undefined
  readonly near?: readonly string[] | undefined
}

export function toldOfUnseen({ name, made = false, near = [] }: Unseen): string {
  const state = made ? `Nobody was called ${name}` : `Nobody has answered to the name ${name} yet`
  const meant = near.length > 0 ? ` If you meant ${near.join(' or ')}, send it again to that name.` : ''
  return `${state}: the message waits for an agent that registers under this name.${meant}`
}
