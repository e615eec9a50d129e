/** Settings of cross-origin requests: the pages of other sites that may read answers. */
import { origin } from './http.ts'
import { flag, list } from './kinds.ts'

function token(raw: string): string {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(raw)) throw new Error('must be names separated by commas, or *')
  return raw
}

export const corsSettings = {
  HTTP_CORS_ENABLED: flag(false).says(
    'Whether pages of other sites may read answers of this server in a browser (CORS).',
  ),
  HTTP_CORS_ORIGINS: list('', (one) => (one === '*' ? one : origin(one))).says(
    'Web sites, separated by commas and written like `https://name:port`, whose pages may call this server and read its answers while HTTP_CORS_ENABLED is true. `*` is every site; their pages then need credentials, also on this machine.',
  ),
  HTTP_CORS_ALLOW_CREDENTIALS: flag(false).says(
    'Whether pages of the sites in HTTP_CORS_ORIGINS may send cookies along.',
  ),
  HTTP_CORS_ALLOW_METHODS: list('*', (one) => token(one).toUpperCase()).says(
    'HTTP methods, separated by commas, that pages of other sites may use; `*` is all.',
  ),
  HTTP_CORS_ALLOW_HEADERS: list('*', token).says(
    'Request headers, separated by commas, that pages of other sites may send; `*` is all, `Authorization` among them.',
  ),
}
