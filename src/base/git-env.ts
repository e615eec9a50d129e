/** The environment for a `git` that looks at a folder which Parley was told of. */

/** With one of these git would look elsewhere: it sets them for its hooks, and one of those may have started Parley. */
const places = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_COMMON_DIR', 'GIT_OBJECT_DIRECTORY', 'GIT_PREFIX']

export const gitEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !places.includes(name)))
