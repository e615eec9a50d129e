/** Names of agents as others address them. */

/** With the project where it is another one. */
export const addressIn =
  (home: string) =>
  ({ name, project }: { readonly name: string; readonly project: string }): string =>
    project === home ? name : `${name}@${project}`
