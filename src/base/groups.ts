/** Group addresses: `role:reviewer` is each agent of that role, `any:reviewer` one of them, `all:project` everybody in the project. */

export type Group = { readonly to: 'role' | 'any'; readonly role: string } | { readonly to: 'all' }

const rolePattern = /^[a-z0-9][a-z0-9_-]{0,31}$/

/** Continues the sentence `roles …`. */
export const roleRule =
  'must be 1 to 32 letters, digits, "-" or "_", and begin with a letter or digit, such as "reviewer"'

/** Roles are compared without case. */
export const roleKey = (role: string): string => role.trim().toLowerCase()

export const isRole = (role: string): boolean => rolePattern.test(roleKey(role))

/** Names of agents have no colon, but for those of the bus, which no other door addresses. */
export const isGroup = (name: string): boolean => /^(?:role|any|all):/i.test(name)

/** Undefined for a name that only begins like a group. */
export function groupOf(name: string): Group | undefined {
  const [kind = '', ...rest] = name.split(':')
  const role = roleKey(rest.join(':'))
  const to = kind.toLowerCase()
  if (to === 'all') return role === 'project' ? { to } : undefined
  return (to === 'role' || to === 'any') && isRole(role) ? { to, role } : undefined
}

/** Why a group address is refused, wherever one may stand. */
export function groupFault(name: string, project: string | undefined): string | undefined {
  if (groupOf(name) === undefined)
    return 'must be role:NAME (each agent of that role), any:NAME (one of them) or all:project'
  return project === undefined ? undefined : 'must be a group of your own project, without "@"'
}
