/** Settings of cross-origin requests: the pages of other sites that may read answers. */
import { origin } from './http.ts'
import { flag, list, setting } from './kinds.ts'

const name = /^[!#$%&'*+.^_`|~\w-]+$/

const names = (raw: string): readonly string[] => {
  const given = list(raw)
  if (!given.every((one) => name.test(one))) throw new Error('must be names separated by commas, or *')
  return given
}

export const corsSettings = {
  HTTP_CORS_ENABLED: setting({
    default: 'false',
    says: 'Whether browsers let pages of other sites read answers of this server (CORS).',
    parse: flag,
  }),
  HTTP_CORS_ORIGINS: setting({
    default: '',
    says: 'Web sites, separated by commas and written like `https://name:port`, whose pages may call this server and read its answers while HTTP_CORS_ENABLED is true. `*` is every site; their pages then need credentials, also on this machine.',
    parse: (raw) => list(raw).map((one) => (one === '*' ? one : origin(one))),
  }),
  HTTP_CORS_ALLOW_CREDENTIALS: setting({
    default: 'false',
    says: 'Whether pages of the sites in HTTP_CORS_ORIGINS may send cookies along.',
    parse: flag,
  }),
  HTTP_CORS_ALLOW_METHODS: setting({
    default: '*',
    says: 'HTTP methods, separated by commas, that pages of other sites may use; `*` is all.',
    parse: (raw) => names(raw).map((one) => one.toUpperCase()),
  }),
  HTTP_CORS_ALLOW_HEADERS: setting({
    default: '*',
    says: 'Request headers, separated by commas, that pages of other sites may send; `*` is all, `Authorization` among them.',
    parse: names,
  }),
} as const
