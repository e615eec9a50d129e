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

/** `rawHeaders` as node:http has them: names at the even indices. */
export const isForwarded = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.some((name, at) => at % 2 === 0 && proxyHeader.test(name))
