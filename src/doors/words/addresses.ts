/** Names of agents as others address them. */

/** With the project where it is another one. */
export const addressIn =
  (home: string) =>
  ({ name, project }: { readonly name: string; readonly project: string }): string =>
    project === home ? name : `${name}@${project}`

/** The name, and what follows the first "@" if there is one: the slug, name or key of a project. */
export function parseAddress(address: string): [name: string, project?: string] {
  const at = address.indexOf('@')
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at + 1)]
}
