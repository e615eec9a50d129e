/** Detects a request that came through a proxy: behind one on this machine every client seems to be local (all.credentials.proxied). */

/** Headers that only proxies, load balancers and caches set. */
const names = `via cdn-loop client-cert client-cert-chain front-end-https surrogate-capability x-accel-mapping x-cdn
  x-client-cert x-client-verify x-cloud-trace-context x-host x-http-host-override x-queue-start x-request-start
  x-rewrite-url x-scheme x-script-name x-sendfile-type x-url-scheme x-webauth-user`

/** Prefixes of products whose proxies set several headers. */
const prefixes = `akamai- cf- cloudfront- fastly- fly- incap- ngrok- proxy- remote- ssl-client- tailscale- teleport-
  wl-proxy- x-akamai- x-amz-cf- x-amzn- x-appengine- x-arr- x-auth-request- x-authelia- x-authentik- x-azure-
  x-bluecoat- x-edge- x-envoy- x-goog-authenticated-user- x-goog-iap- x-haproxy- x-kong- x-ms-client-principal
  x-ms-proxy x-nf- x-nginx- x-original- x-pomerium- x-proxy x-remote- x-ssl- x-sucuri- x-traefik- x-varnish x-vercel-`

const anyOf = (words: string): string => words.split(/\s+/).join('|')

const proxyHeader = new RegExp(
  `^(?:${anyOf(names)})$|^(?:${anyOf(prefixes)})|forward|(?:client|real|connecting|remote|source|user)-?(?:ip|ipv6|addr|address|host)$`,
  'i',
)

/** Clients send the same few names with every request: a look-up costs a tenth of the expression. Bounded, because clients choose the names. */
const known = new Map<string, boolean>()
const maxKnown = 1000
const maxName = 100

/** `rawHeaders` as node:http has them: names at the even indices. */
export function isForwarded(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) if (isOfProxy(rawHeaders[at] ?? '')) return true
  return false
}

function isOfProxy(name: string): boolean {
  const cached = known.get(name)
  if (cached !== undefined) return cached
  const verdict = proxyHeader.test(name)
  if (name.length > maxName) return verdict
  if (known.size >= maxKnown) known.clear()
  known.set(name, verdict)
  return verdict
}
