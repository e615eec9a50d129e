/** Being told that a resource changed: `resources/subscribe` before 2026-07-28, `subscriptions/listen` since. */
import { isSpecType, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server'
import type { Json } from './json.ts'
import { type Incoming, invalid, uriOf } from './methods.ts'
import type { Service } from './service.ts'
import { maxFollowed, updatedWith } from './updates.ts'

/** Without a session there is nowhere to send updates to; the subscription is accepted all the same, as by the SDK. */
export async function subscribe<Scope>({ params, exchange }: Incoming<Scope>): Promise<Json> {
  const uri = uriOf(params)
  if ((await exchange.updates?.subscribe(uri)) === false)
    throw invalid('Too many subscriptions; end some with resources/unsubscribe.')
  return {}
}

export async function unsubscribe<Scope>({ params, exchange }: Incoming<Scope>): Promise<Json> {
  const uri = uriOf(params)
  await exchange.updates?.unsubscribe(uri)
  return {}
}

/** One long request: acknowledged by a notification, then updates while its client is there, an answer when the server stops. */
export async function listen<Scope>({ door }: Service<Scope>, { params, exchange }: Incoming<Scope>): Promise<Json> {
  const { notifications: filter } = params
  if (!isSpecType.SubscriptionFilter(filter))
    throw invalid("'notifications' is required and must be a valid SubscriptionFilter.")
  const { updates } = door
  const uris = updates === undefined ? [] : [...new Set(filter.resourceSubscriptions)]
  for (const uri of uris) uriOf({ uri })
  if (uris.length > maxFollowed) throw invalid(`At most ${maxFollowed} resources can be listened to.`)
  const meta = { [SUBSCRIPTION_ID_META_KEY]: exchange.id }
  exchange.stream()
  // The client is told of every change that is committed after the acknowledgement.
  const watched: { uri: string; since: string }[] = []
  for (const uri of uris) watched.push({ uri, since: (await updates?.begin(uri, exchange)) ?? '' })
  exchange.notify(
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: uris.length === 0 ? {} : { resourceSubscriptions: uris }, _meta: meta },
    }),
  )
  if (updates !== undefined && uris.length > 0) {
    const text = JSON.stringify(meta)
    const stop = await updates.follow(watched, exchange, {
      tell: ({ uri }) => exchange.notify(updatedWith(uri, text)),
    })
    await eitherAborted(exchange.signal, exchange.stopping)
    stop()
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
