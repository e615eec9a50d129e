/** Settings: each kind of value, where they come from, and what is said of those that are wrong. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { settings } from './all.ts'
import { ConfigError, loadConfig, readSettings } from './read.ts'

/** A file with settings, alone in its folder. */
function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'settings.env')
  writeFileSync(path, text)
  return path
}

/** No setting but those given; no file. */
const load = (env: Record<string, string | undefined> = {}, flags?: Record<string, string>) =>
  loadConfig({ PARLEY_ENV_FILE: file(''), ...env }, flags === undefined ? {} : { flags })

const faultsOf = (env: Record<string, string | undefined>): string[] => {
  try {
    load(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').slice(1, -1)
  }
  return []
}

test('Without any setting every default holds', () => {
  expect(load()).toMatchObject({
    STORAGE_ROOT: join(homedir(), '.parley'),
    DATABASE_URL: undefined,
    DATABASE_POOL_SIZE: 10,
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: 8765,
    HTTP_BEARER_TOKEN: undefined,
    HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: true,
    HTTP_ALLOWED_HOSTS: [],
    SECRET_KEY: undefined,
    SESSION_TTL_SECONDS: 7 * 24 * 3600,
    MAILBOX_MAX_DEPTH: 10_000,
    MAX_WAIT_SECONDS: 50,
    LOG_LEVEL: 'info',
    LOG_JSON_ENABLED: false,
  })
})

describe('A value', () => {
  test.each([
    ['HTTP_PORT', '0', 0],
    ['HTTP_PORT', ' 8080 ', 8080],
    ['HTTP_PORT', '65535', 65535],
    ['MAX_WAIT_SECONDS', '0.5', 0.5],
    ['MAX_WAIT_SECONDS', '0', 0],
    ['MAILBOX_MAX_DEPTH', '1', 1],
    ['LOG_JSON_ENABLED', 'true', true],
    ['LOG_JSON_ENABLED', 'YES', true],
    ['LOG_JSON_ENABLED', ' 1 ', true],
    ['LOG_JSON_ENABLED', 'on', true],
    ['HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED', 'False', false],
    ['HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED', '0', false],
    ['HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED', 'no', false],
    ['HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED', 'off', false],
    ['HTTP_ALLOWED_HOSTS', 'a.example', ['a.example']],
    ['HTTP_ALLOWED_HOSTS', ' a.example, ,b.example,', ['a.example', 'b.example']],
    ['HTTP_HOST', '::1', '::1'],
    ['HTTP_HOST', '0.0.0.0', '0.0.0.0'],
    ['HTTP_HOST', 'my-host.local', 'my-host.local'],
    ['LOG_LEVEL', 'DEBUG', 'debug'],
    ['LOG_LEVEL', 'silent', 'silent'],
    ['STORAGE_ROOT', '~', homedir()],
    ['STORAGE_ROOT', '~/here', join(homedir(), 'here')],
    ['STORAGE_ROOT', 'here/./there', resolve('here', 'there')],
    ['STORAGE_ROOT', '~here', resolve('~here')],
    ['DATABASE_URL', 'sqlite:/srv/parley.sqlite3', 'sqlite:/srv/parley.sqlite3'],
    ['DATABASE_URL', 'sqlite+aiosqlite:///./x.sqlite3', 'sqlite+aiosqlite:///./x.sqlite3'],
    ['DATABASE_URL', 'postgresql+asyncpg://u:p@h/d', 'postgresql+asyncpg://u:p@h/d'],
    ['DATABASE_URL', 'postgres://u:p@h/d', 'postgres://u:p@h/d'],
    ['HTTP_BEARER_TOKEN', '~!a"b23456789012', '~!a"b23456789012'],
    ['SECRET_KEY', 'sixteen letters!', 'sixteen letters!'],
    ['HTTP_PATH', '/mcp/', '/mcp'],
    ['HTTP_PATH', '/team/mail', '/team/mail'],
    ['AGENT_NAME_ENFORCEMENT_MODE', 'Always_Auto', 'always_auto'],
    ['LLM_BASE_URL', 'https://llm.example/v1/', 'https://llm.example/v1'],
    ['LLM_TEMPERATURE', '0.5', 0.5],
    ['ACK_ESCALATION_CLAIM_HOLDER_NAME', 'OpsDesk', 'OpsDesk'],
    ['LLM_CACHE_REDIS_URL', 'rediss://u:p%40@[::1]:6380/2', 'rediss://u:p%40@[::1]:6380/2'],
  ])('of %s may be %j', (name, raw, value) => {
    expect(load({ [name]: raw })).toHaveProperty(name, value)
  })

  test.each([
    ['HTTP_PORT', 'http'],
    ['HTTP_PATH', 'mcp'],
    ['HTTP_PATH', '/'],
    ['HTTP_PATH', '/bus/mcp'],
    ['HTTP_PATH', '/agents'],
    ['AGENT_NAME_ENFORCEMENT_MODE', 'lenient'],
    ['LLM_BASE_URL', 'https://user:secret@llm.example/v1'],
    ['ACK_ESCALATION_CLAIM_HOLDER_NAME', 'not a name'],
    ['ACK_ESCALATION_MODE', 'mail'],
    ['HTTP_PORT', '-1'],
    ['HTTP_PORT', '65536'],
    ['HTTP_PORT', '80.5'],
    ['HTTP_PORT', ' '],
    ['HTTP_PORT', 'NaN'],
    ['MAX_WAIT_SECONDS', '-0.1'],
    ['MAX_WAIT_SECONDS', 'Infinity'],
    ['MAX_WAIT_SECONDS', '50s'],
    ['SESSION_TTL_SECONDS', '0'],
    ['MAILBOX_MAX_DEPTH', '0'],
    ['LOG_JSON_ENABLED', 'maybe'],
    ['LOG_LEVEL', 'verbose'],
    ['HTTP_HOST', 'two hosts'],
    ['HTTP_HOST', 'http://host'],
    ['STORAGE_ROOT', ' '],
    ['DATABASE_URL', 'mysql://host/db'],
    ['DATABASE_URL', '/srv/parley.sqlite3'],
    ['HTTP_BEARER_TOKEN', 'two words'],
    ['HTTP_BEARER_TOKEN', 'naïve'],
    ['SECRET_KEY', 'fifteen letters'],
    ['LLM_CACHE_BACKEND', 'disk'],
    ['LLM_CACHE_REDIS_URL', 'localhost:6379'],
    ['LLM_CACHE_REDIS_URL', 'http://localhost:6379'],
    ['LLM_CACHE_REDIS_URL', 'redis://localhost/zero'],
    ['LLM_CACHE_REDIS_URL', 'redis://localhost?db=1'],
  ])('of %s may not be %j', (name, raw) => {
    const [fault, ...more] = faultsOf({ [name]: raw })
    expect(more).toEqual([])
    expect(fault).toMatch(new RegExp(`^ {2}- ${name} must `))
    expect(fault?.includes(JSON.stringify(raw))).toBe(!('secret' in settings[name as keyof typeof settings]))
  })
})

describe('A setting', () => {
  const path = () => file('HTTP_PORT=1\nHTTP_HOST=from-file\nexport LOG_LEVEL="warn" # loud enough\nUNKNOWN=1\n')

  test('comes from a flag, else the environment, else the file, else the default', () => {
    const env = { PARLEY_ENV_FILE: path(), HTTP_PORT: '2', HTTP_HOST: 'from-env' }
    expect(loadConfig(env, { flags: { HTTP_PORT: '3' } })).toMatchObject({
      HTTP_PORT: 3,
      HTTP_HOST: 'from-env',
      LOG_LEVEL: 'warn',
      MAX_WAIT_SECONDS: 50,
    })
  })

  test('that is empty counts as not set', () => {
    const env = { PARLEY_ENV_FILE: path(), HTTP_PORT: '', HTTP_HOST: '', MAX_WAIT_SECONDS: '' }
    expect(loadConfig(env, { flags: { HTTP_PORT: '' } })).toMatchObject({
      HTTP_PORT: 1,
      HTTP_HOST: 'from-file',
      MAX_WAIT_SECONDS: 50,
    })
  })

  test('may be wrong in the file too', () => {
    const path = file('HTTP_PORT=x\nSECRET_KEY=tiny\n')
    expect(faultsOf({ PARLEY_ENV_FILE: path, MAX_WAIT_SECONDS: 'y' })).toEqual([
      `  - HTTP_PORT must be a whole number from 0 to 65535, not "x" (${path})`,
      `  - SECRET_KEY must have at least 16 characters (${path})`,
      expect.stringMatching(/^ {2}- MAX_WAIT_SECONDS .*\(environment\)$/),
    ])
  })
})

describe('The file', () => {
  verifies(
    'serve.config.sources',
    'is the one that is named, else that of the checkout, else that of the home folder',
    () => {
      const home = mkdtempSync(join(tmpdir(), 'parley-config-'))
      onTestFinished(() => rmSync(home, { recursive: true, force: true }))
      mkdirSync(join(home, '.parley'))
      const checkout = join(file(''), '..')
      writeFileSync(join(home, '.parley', '.env'), 'HTTP_PORT=1\nHTTP_HOST=home\nLOG_LEVEL=warn\nMAX_WAIT_SECONDS=7\n')
      writeFileSync(join(checkout, '.env'), 'HTTP_PORT=2\nHTTP_HOST=checkout\nLOG_LEVEL=error\n')
      const named = file('HTTP_PORT=3\nHTTP_HOST=named\n')
      const env = { HOME: home, PARLEY_ENV_FILE: named, HTTP_PORT: '4' }
      const { config, sources } = readSettings(env, { checkout })
      expect(config).toMatchObject({ HTTP_PORT: 4, HTTP_HOST: 'named', LOG_LEVEL: 'error', MAX_WAIT_SECONDS: 7 })
      expect(sources).toMatchObject({
        HTTP_PORT: 'environment',
        HTTP_HOST: named,
        LOG_LEVEL: join(checkout, '.env'),
        MAX_WAIT_SECONDS: join(home, '.parley', '.env'),
        HTTP_PATH: 'default',
      })
      expect(readSettings({ HOME: home }, { flags: { HTTP_PORT: '5' } }).sources.HTTP_PORT).toBe('command line')
    },
  )

  verifies('serve.config.sources', 'of the working folder is never read', () => {
    const before = process.cwd()
    process.chdir(join(file(''), '..'))
    onTestFinished(() => process.chdir(before))
    writeFileSync('.env', 'HTTP_PORT=2')
    for (const env of [{}, { PARLEY_ENV_FILE: '' }]) expect(loadConfig(env).HTTP_PORT).toBe(8765)
  })

  test('must exist if it was asked for', () => {
    expect(faultsOf({ PARLEY_ENV_FILE: join(tmpdir(), 'no', 'such', 'file') })).toEqual([
      `  - PARLEY_ENV_FILE names ${JSON.stringify(join(tmpdir(), 'no', 'such', 'file'))}, which does not exist`,
    ])
  })

  test('must be one that can be read', () => {
    const folder = `${file('')}.d`
    mkdirSync(folder)
    const [fault] = faultsOf({ PARLEY_ENV_FILE: folder })
    expect(fault).toContain(`${folder} cannot be read: `)
  })
})

test('Every fault is told at once, without the values of secrets', () => {
  const secret = 'hunter2 is not a token'
  const faults = faultsOf({ HTTP_PORT: 'x', LOG_LEVEL: 'y', HTTP_BEARER_TOKEN: secret, DATABASE_URL: secret })
  expect(faults).toHaveLength(4)
  expect(faults.join()).not.toContain('hunter2')
})

verifies('serve.secret.weak', 'A key that can be guessed is a fault, and is not told', () => {
  for (const key of [
    'fifteen letters',
    'aaaaaaaaaaaaaaaaaaaaaaaa',
    'change-me-to-a-random-string',
    'your_secret_key_here',
  ]) {
    for (const [name, secret] of [
      ['SECRET_KEY', key],
      ['HTTP_BEARER_TOKEN', key.replaceAll(' ', '_')],
    ] as const) {
      const faults = faultsOf({ [name]: secret })
      expect(faults).toEqual([expect.stringMatching(`^ {2}- ${name} must .*(characters|example)`)])
      expect(faults.join()).not.toContain(secret)
    }
  }
})

test('Answers are kept in Redis only where one is named', () => {
  expect(faultsOf({ LLM_CACHE_BACKEND: 'redis' })).toEqual([
    '  - LLM_CACHE_REDIS_URL must be set where LLM_CACHE_BACKEND is redis (LLM_CACHE_BACKEND: environment)',
  ])
  const env = { LLM_CACHE_BACKEND: 'redis', LLM_CACHE_REDIS_URL: 'redis://127.0.0.1' }
  expect(load(env)).toMatchObject(env)
})

describe('A name that is nearly a setting', () => {
  const warnings = (env: Record<string, string>, text = '') =>
    readSettings({ PARLEY_ENV_FILE: file(text), ...env }).warnings.map((warning) =>
      warning.replace(/^\S+\/settings/, 'settings'),
    )

  verifies('serve.config.strangers', 'is told where it is one or two letters away, in the environment', () => {
    for (const name of ['HTTP_PROT', 'HTTP_PORTS', 'HTP_PORT', 'HTTPPORT', 'http_port', 'HTTP_PRT', 'HTTP__PORTS'])
      expect(warnings({ [name]: '1' })).toEqual([
        `The environment has ${name}, which is no setting; the nearest is HTTP_PORT.`,
      ])
    // Variables of other programs are left alone.
    for (const name of [
      'HTTP_PROXY',
      'http_proxy',
      'HOME',
      'PATH',
      'LOGNAME',
      'NODE_ENV',
      'DATABASE_NAME',
      'PARLEY_LAUNCHED',
    ])
      expect(warnings({ [name]: '1' }), name).toEqual([])
    expect(warnings({ HTTP_PORT: '1', LOG_LEVEL: 'warn' })).toEqual([])
  })

  verifies('serve.config.strangers', 'is told in the file, as is every name there that is none', () => {
    expect(warnings({}, 'FOO=hush\nHTTP_PORT=1\nLOG_LEVLE=debug\nFRUIT_BASKET=x\n').sort()).toEqual([
      'settings.env: Parley knows no setting FOO.',
      'settings.env: Parley knows no setting FRUIT_BASKET.',
      'settings.env: Parley knows no setting LOG_LEVLE; the nearest is LOG_LEVEL.',
    ])
  })
})

describe('Settings of signing in', () => {
  const on = { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: 'x'.repeat(32) }
  const url = 'https://issuer.example/jwks?p=1'

  verifies('all.token.settings', 'that cannot work are faults, each of them', () => {
    expect(faultsOf({ HTTP_JWT_ENABLED: 'true' })).toEqual([
      '  - HTTP_JWT_SECRET or HTTP_JWT_JWKS_URL must be set where HTTP_JWT_ENABLED is true (HTTP_JWT_ENABLED: environment)',
    ])
    for (const algorithms of ['none', 'RS256', 'HS256,ES256', 'hs256'])
      expect(faultsOf({ ...on, HTTP_JWT_ALGORITHMS: algorithms })[0]).toMatch(/HTTP_JWT_ALGORITHMS must be among HS256/)
    for (const algorithms of ['none', 'HS256', 'RS256,HS256'])
      expect(faultsOf({ ...on, HTTP_JWT_JWKS_URL: url, HTTP_JWT_ALGORITHMS: algorithms })[0]).toMatch(/among RS256/)
    for (const wrong of ['issuer.example', 'file:///keys', 'https://user:pass@issuer.example'])
      expect(faultsOf({ ...on, HTTP_JWT_JWKS_URL: wrong })[0]).toMatch(/HTTP_JWT_JWKS_URL must be an http/)
    expect(faultsOf({ HTTP_PUBLIC_URL: 'hub.example' })[0]).toMatch(/HTTP_PUBLIC_URL must be an http/)
    expect(faultsOf({ ...on, HTTP_RATE_LIMIT_BACKEND: 'redis', LLM_CACHE_BACKEND: 'redis' })).toHaveLength(2)
    expect(faultsOf({ HTTP_RATE_LIMIT_TOOLS_PER_MINUTE: '-1' })).toHaveLength(1)
    expect(faultsOf({ ...on, HTTP_JWT_JWKS_URL: url, HTTP_JWT_ALGORITHMS: 'EdDSA, PS256' })).toEqual([])
    expect(faultsOf({ HTTP_JWT_ALGORITHMS: 'none' })).toEqual([])
  })

  verifies('all.token.secret', 'of which a short secret is a fault that does not show it', () => {
    for (const secret of ['shortish', 'x'.repeat(31), 'é'.repeat(15)]) {
      const faults = faultsOf({ ...on, HTTP_JWT_SECRET: secret })
      expect(faults).toEqual([expect.stringMatching(/HTTP_JWT_SECRET must have at least 32 bytes/)])
      expect(faults.join()).not.toContain(secret)
      // Where it is not used it need not be long.
      expect(faultsOf({ ...on, HTTP_JWT_SECRET: secret, HTTP_JWT_JWKS_URL: url })).toEqual([])
      expect(faultsOf({ HTTP_JWT_SECRET: secret })).toEqual([])
    }
    expect(faultsOf({ ...on, HTTP_JWT_SECRET: 'é'.repeat(16) })).toEqual([])
  })

  verifies('all.cors.everybody', 'of pages: every site with credentials is a fault', () => {
    const every = { HTTP_CORS_ENABLED: 'true', HTTP_CORS_ORIGINS: '*', HTTP_CORS_ALLOW_CREDENTIALS: 'true' }
    expect(faultsOf(every)[0]).toMatch(/HTTP_CORS_ORIGINS must list its sites/)
    expect(faultsOf({ ...every, HTTP_CORS_ALLOW_CREDENTIALS: 'false' })).toEqual([])
    expect(faultsOf({ ...every, HTTP_CORS_ORIGINS: 'https://a.example/path' })[0]).toMatch(/must list origins/)
    expect(faultsOf({ HTTP_CORS_ALLOW_HEADERS: 'a b' })).toHaveLength(1)
  })
})

verifies('serve.log.levels', 'names of Python are levels too', () => {
  expect(load({ LOG_LEVEL: 'WARNING' }).LOG_LEVEL).toBe('warn')
  expect(load({ LOG_LEVEL: 'Critical' }).LOG_LEVEL).toBe('fatal')
})

test('Samplers of traces are judged where Parley traces', () => {
  const foreign = { OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote', OTEL_TRACES_SAMPLER_ARG: 'endpoint=a,b' }
  expect(faultsOf(foreign)).toEqual([])
  const on = { HTTP_OTEL_ENABLED: 'true' }
  expect(faultsOf({ ...on, ...foreign })).toEqual([expect.stringContaining('parentbased_traceidratio')])
  const share = (text: string) =>
    faultsOf({ ...on, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: text }).length
  expect(['0', '1', '0.01', '.5', '1e-3'].map(share)).toEqual([0, 0, 0, 0, 0])
  expect(['-1', '1.1', 'half', ' ', 'Infinity'].map(share)).toEqual([1, 1, 1, 1, 1])
})
