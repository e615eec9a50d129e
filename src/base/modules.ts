/** Modules that are loaded by their place: threads, other programs, and what a thread is told to load. */

/** The module `name` beside the one that asks, as source or built. scripts/build.ts has a list of them. */
export const moduleBeside = (asking: ImportMeta['url'], name: string): URL =>
  new URL(`./${name}${asking.slice(-3)}`, asking)
