/** Being told that a resource changed: `resources/subscribe` before 2026-07-28, `subscriptions/listen` since. */
import { isSpecType, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server'
import { updated } from './conversation.ts'
import type { Json } from './json.ts'
import { type Incoming, invalid, uriOf } from './methods.ts'
import type { Service } from './service.ts'

const maxListened = 1000

/** Without a session there is nowhere to send updates to; the subscription is accepted all the same, as by the SDK. */
export function subscribe<Scope>({ door }: Service<Scope>, { params, exchange }: Incoming<Scope>): Json {
  const uri = uriOf(params)
  const { caller, scope } = exchange
  const watched = exchange.conversation?.watch(
    uri,
    (changed) => door.watch?.(uri, { caller, scope }, changed) ?? (() => {}),
  )
  if (watched === false) throw invalid('Too many subscriptions; end some with resources/unsubscribe.')
  return {}
}

export function unsubscribe<Scope>({ params, exchange }: Incoming<Scope>): Json {
  const uri = uriOf(params)
  exchange.conversation?.unwatch(uri)
  return {}
}

/** One long request: acknowledged by a notification, then updates while its client is there, an answer when the server stops. */
export async function listen<Scope>({ door }: Service<Scope>, { params, exchange }: Incoming<Scope>): Promise<Json> {
  const { notifications: filter } = params
  if (!isSpecType.SubscriptionFilter(filter))
    throw invalid("'notifications' is required and must be a valid SubscriptionFilter.")
  const uris = door.watch === undefined ? [] : [...new Set(filter.resourceSubscriptions)]
  for (const uri of uris) uriOf({ uri })
  if (uris.length > maxListened) throw invalid(`At most ${maxListened} resources can be listened to.`)
  const meta = { [SUBSCRIPTION_ID_META_KEY]: exchange.id }
  exchange.stream()
  exchange.notify(
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: uris.length === 0 ? {} : { resourceSubscriptions: uris }, _meta: meta },
    }),
  )
  if (uris.length > 0) {
    const { caller, scope } = exchange
    const stops = uris.map((uri) => door.watch?.(uri, { caller, scope }, () => exchange.notify(updated(uri, meta))))
    await eitherAborted(exchange.signal, exchange.stopping)
    for (const stop of stops) stop?.()
  }
  return { _meta: meta }
}

async function eitherAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => resolve()
  if (signals.some((signal) => signal.aborted)) done()
  for (const signal of signals) signal.addEventListener('abort', done)
  await promise
  for (const signal of signals) signal.removeEventListener('abort', done)
}
