/** A server: settings → database → hub → doors → listening, and the way back when it is told to stop. */
import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../base/log.ts'
import { collectProcessMetrics } from '../base/process-metrics.ts'
import { openFileLimit } from '../base/processes.ts'
import { guess } from '../core/access/guessing.ts'
import { keepNames } from '../core/access/holders.ts'
import { callerOfKey, onKeyLost } from '../core/access/keys.ts'
import {
  addFollowed,
  endSession,
  isSessionEnded,
  listFollowed,
  onFollowed,
  onSessionEnded,
  removeFollowed,
} from '../core/access/sessions.ts'
import { itself } from '../core/hub/commit.ts'
import { onClose } from '../core/hub/hub.ts'
import { refusingDb } from '../db/failing-db.ts'
import { risksOf } from '../db/risks.ts'
import { busDoor } from '../doors/bus/door.ts'
import { busPath, busScope } from '../doors/bus/holder.ts'
import { mountHooks } from '../doors/hooks/door.ts'
import { createApp } from '../doors/http/app.ts'
import { boundConnections, stopListening } from '../doors/http/connections.ts'
import { createGuard } from '../doors/http/host-check.ts'
import { createWrongKeys } from '../doors/http/wrong-keys.ts'
import { hubDoor } from '../doors/hub/door.ts'
import { hubPath, hubScope } from '../doors/hub/scope.ts'
import { mountJoin } from '../doors/join/door.ts'
import type { About } from '../doors/mail/about.ts'
import { mailDoor } from '../doors/mail/door.ts'
import { mailScope } from '../doors/mail/scope.ts'
import { mailboxDoor, mailboxPath, mailboxScope } from '../doors/mailbox/door.ts'
import { mountDoor } from '../doors/mcp/http/serve.ts'
import { createEngine } from '../doors/mcp/protocol/engine.ts'
import type { EndedSessions } from '../doors/mcp/protocol/sessions.ts'
import { emitUsage, Usage } from '../doors/mcp/usage.ts'
import { mountPeople } from '../doors/people/door.ts'
import { mountPost } from '../doors/post/door.ts'
import { mountSockets } from '../doors/post/sockets/mount.ts'
import { mountRuns } from '../doors/runs/door.ts'
import { mountWeb } from '../doors/web/door.ts'
import type { Config } from '../settings/all.ts'
import { type Archiving, startArchiving } from './archiving.ts'
import { startBackground } from './background.ts'
import { databaseName, databaseUrl, storageName } from './database-place.ts'
import { openMetricsPort, refreshing } from './gauges.ts'
import { guardInstallation } from './guard-steering.ts'
import { listenAt, readCertificate, urlOf } from './listening.ts'
import { llmOf } from './llm.ts'
import { ChangesMissing } from './loss.ts'
import { openDatabase, openOn, storeMark } from './open.ts'
import { openRemoteToolsOf } from './remote-tools.ts'
import { keepSecret } from './secret.ts'
import { openSignIn } from './sign-in.ts'
import { taskStore } from './tasks.ts'
import { startTracing } from './tracing.ts'
import { version } from './version.ts'
import type { WorkerLink } from './worker-link.ts'

/** The memory of a silent session is freed after this; its token stays good. */
const sessionIdleMs = 15 * 60_000

/** Running calls have this long to end, then half-sent requests to come in (stop-on-signal.ts promises an exit within five seconds). */
const graceMs = 3000
const lateMs = 1000

interface Starting {
  readonly acceptLoss?: boolean
  /** The socket that systemd has opened. */
  readonly fd?: number | undefined
  /** Where it is one of several workers. */
  readonly worker?: WorkerLink | undefined
}

/** Everything of a server but the process around it. */
export async function startServer(config: Config, log: Log, { acceptLoss = false, fd, worker }: Starting = {}) {
  const certificate = readCertificate(config)
  mkdirSync(config.STORAGE_ROOT, { recursive: true, mode: 0o700 })
  const secret = config.SECRET_KEY ?? keepSecret(config.STORAGE_ROOT, log)
  const remoteTools = await openRemoteToolsOf(config, log)
  let missing: ChangesMissing | undefined
  const db = await openDatabase(config, { acceptLoss, log }).catch((error: unknown) => {
    if (!(error instanceof ChangesMissing)) throw error
    // It serves nothing but its readiness, and says why: a start that fails over and over is told to nobody.
    log.error({ database: storageName(config), event: 'changes_missing', hint: error.hint }, error.message)
    missing = error
    return refusingDb(error)
  })
  const hub = await openOn(db, config, log, { remoteTools, llm: await llmOf(config, log) })
  if (missing === undefined)
    for (const { says, advice } of await risksOf(db, databaseUrl(config)))
      log.warn({ event: 'database_risk', hint: advice }, says)
  const { clock, ids, metrics } = hub
  const endProcessMetrics = collectProcessMetrics(metrics.meters)
  onClose(hub, async () => endProcessMetrics())
  onClose(hub, await startTracing(config, { log, metrics }))
  const usage = new Usage({ noting: config.TOOLS_LOG_ENABLED })
  try {
    const { close: closeSignIn, ...signIn } = await openSignIn(hub, config, worker?.limiter)
    onClose(hub, async () => closeSignIn())
    const ended: EndedSessions = {
      has: (nonce) => isSessionEnded(hub, nonce),
      add: (caller, nonce, until) => endSession(hub, caller, nonce, until),
      watch: (fn) => onSessionEnded(hub, fn),
    }
    const engine = createEngine({
      clock,
      ids,
      log,
      metrics,
      usage,
      version,
      admission: signIn.admission,
      graceMs,
      tasks: taskStore(hub),
      sessions: {
        secret,
        ttlMs: config.SESSION_TTL_SECONDS * 1000,
        idleMs: sessionIdleMs,
        ended,
        present: (sessions) => {
          const nonces = sessions.filter(({ door }) => door === 'bus').map(({ nonce }) => nonce)
          keepNames(hub, nonces).catch((error: unknown) => log.debug({ err: error }, 'names were not kept'))
        },
        followed: {
          of: (nonce, caller, expiresAt) => ({
            list: () => listFollowed(hub, nonce),
            add: (followed) => addFollowed(hub, caller, { nonce, expiresAt, ...followed }),
            remove: (uri) => removeFollowed(hub, caller, nonce, uri),
          }),
          watch: (fn) => onFollowed(hub, fn),
        },
      },
    })
    const wrongKeys = createWrongKeys(config.HTTP_WRONG_KEYS_PER_MINUTE, clock, (guessing, wrong) =>
      guess(hub, itself, guessing, async () => ({ wrong })),
    )
    const refresh = refreshing(hub, engine, { byProject: config.METRICS_BY_PROJECT })
    worker?.join(hub, refresh)
    let archiving: Archiving | undefined
    let [draining, ending] = [false, false]
    const app = createApp({
      node: ids.short(),
      metricsToken: config.METRICS_TOKEN,
      wrongKeys,
      host: config.HTTP_HOST,
      ...signIn,
      bearerToken: config.HTTP_BEARER_TOKEN,
      allowLocalUnauthenticated: config.HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED,
      callerOfKey: (key) => callerOfKey(hub, key),
      onKeyLost: (caller, key, lost) => onKeyLost(hub, caller, key, lost),
      clock,
      log,
      requestsShown: config.HTTP_REQUEST_LOG_ENABLED,
      tls: certificate,
      metrics,
      ready: () => hub.ready(),
      stopping: () => draining,
      ending: () => ending,
      warnings: () => archiving?.trouble() ?? [],
      store: () => storeMark(hub, config),
      refresh,
    })
    boundConnections(app, openFileLimit(), log)
    mountDoor(app, { engine, path: mailboxPath, door: mailboxDoor(hub), scope: mailboxScope })
    mountDoor(app, { engine, path: config.HTTP_PATH, door: mailDoor(hub, about(config, app, usage)), scope: mailScope })
    mountDoor(app, { engine, path: busPath, door: busDoor(hub, version), scope: busScope })
    const { HTTP_PUBLIC_URL: publicUrl, HTTP_PATH: mailPath, HTTP_BASE_PATH: basePath } = config
    mountWeb(app, { hub, secret, token: config.HTTP_BEARER_TOKEN, ended, publicUrl, mailPath, version })
    mountPost(app, hub, { registrationOpen: config.REGISTRATION_OPEN, publicUrl, version })
    mountJoin(app, hub, { mailPath })
    mountPeople(app, hub)
    mountHooks(app, hub)
    mountRuns(app, hub)
    mountSockets(app, hub, {
      wrongKeys,
      guard: createGuard({ host: config.HTTP_HOST, ...signIn }),
      callerOfKey: (key) => callerOfKey(hub, key),
      pingMs: config.WS_PING_INTERVAL * 1000,
      timeoutMs: config.WS_PING_TIMEOUT * 1000,
    })
    mountDoor(app, { engine, path: hubPath, door: hubDoor(hub), scope: hubScope })
    await listenAt(app, config, fd)
    const others = missing === undefined ? startBackground(hub, config) : []
    const archives = worker?.archives ?? true
    if (missing === undefined && config.ARCHIVE_ENABLED && archives) archiving = startArchiving(hub, config)
    const endMetrics = await openMetricsPort(config, refresh, metrics)
    const endSnapshots = config.TOOL_METRICS_EMIT_ENABLED
      ? emitUsage(usage, { clock, log, ms: config.TOOL_METRICS_EMIT_INTERVAL_SECONDS * 1000 })
      : () => {}
    const url = `${urlOf(app.server.address(), certificate && 'https')}${basePath}`
    const localIsFree = config.HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED && isLoopback(new URL(url).hostname)
    return {
      url,
      publicUrl: config.HTTP_PUBLIC_URL,
      mailPath: config.HTTP_PATH,
      storage: storageName(config),
      keyNeeded: !localIsFree,
      unguarded: config.HTTP_BEARER_TOKEN === undefined && !isLoopback(config.HTTP_HOST),
      nameless: config.HTTP_PUBLIC_URL === undefined && !isLoopback(config.HTTP_HOST),
      missing,
      /** Reads the certificate again; connections that are open keep the old one. */
      renewCertificate() {
        const renewed = readCertificate(config)
        if (renewed !== undefined) (app.server as unknown as TlsServer).setSecureContext(renewed)
      },
      /** From now on balancers learn at /health/readiness to send nothing more; requests that still come are served, and end their connection. */
      drain() {
        draining = true
        ending = true
      },
      async stop() {
        ending = true
        // The next server goes on with a socket of systemd: what it will accept is not lost, and what this one has accepted is served.
        if (draining || fd !== undefined) await stopListening(app)
        // Once every answer is out, what stays open is a request that does not come whole, or a client that does not read.
        const cutOff = () => clock.after(lateMs, () => app.server.closeAllConnections())
        void engine.close().then(cutOff, (error: unknown) => {
          log.error({ err: error }, 'calls could not be ended in good order')
          cutOff()
        })
        endSnapshots()
        await endMetrics()
        await Promise.all([app.close(), archiving?.stop()])
        for (const stop of others) await stop()
        await hub.close()
      },
    }
  } catch (error) {
    await hub.close()
    throw error
  }
}

/** The port is the one it got, which with HTTP_PORT=0 is known only now. */
const about = (config: Config, { server }: Pick<FastifyInstance, 'server'>, usage: Usage): About => ({
  environment: config.APP_ENVIRONMENT,
  version,
  http: {
    host: config.HTTP_HOST,
    path: config.HTTP_PATH,
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? config.HTTP_PORT
    },
  },
  databaseUrl: databaseName(config),
  usage,
  guards: () =>
    guardInstallation(
      config,
      `${urlOf(server.address(), config.HTTP_TLS_CERT === undefined ? 'http' : 'https')}${config.HTTP_BASE_PATH}`,
    ),
})

const isLoopback = (host: string): boolean => /^(localhost|\[?::1\]?|127\..*)$/i.test(host)
