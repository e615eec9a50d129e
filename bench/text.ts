/** The body of every message of the bench: 222 characters, as agents write. */
export const text =
  'The build is green again; the flaky test was a timer that outlived its server. Please have a look at the diff. '.repeat(
    2,
  )
