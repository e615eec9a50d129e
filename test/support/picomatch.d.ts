/** The part of picomatch that tests compare with; it brings no types. */
declare module 'picomatch' {
  interface Options {
    dot?: boolean
    nonegate?: boolean
    noextglob?: boolean
    posix?: boolean
  }
  function picomatch(pattern: string | readonly string[], options?: Options): (path: string) => boolean
  export = picomatch
}
