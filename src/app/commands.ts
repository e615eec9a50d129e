/** The commands for people: each is loaded only where it is asked for, and the others start without it. */
import type { Command } from 'commander'
import type { OpenDesk } from '../doors/cli/people/person.ts'
import type { Screen } from '../doors/cli/terminal/screen.ts'
import type { PeoplesCommand } from './command-parts.ts'
import { mailCommands } from './mail-commands.ts'
import { storeCommands } from './store-commands.ts'

const waker = (name: 'wait' | 'hook' | 'attach', says: string): PeoplesCommand => ({
  name,
  says,
  load: async (parts) => (await import('./waker-command.ts')).wakerCommand(name, parts),
})

/** As a person, by the store on this machine or by a server. */
const peoples = (
  name: string,
  says: string,
  load: () => Promise<(open: OpenDesk, screen: Screen) => Command>,
): PeoplesCommand => ({ name, says, load: async ({ openDesk, screen }) => (await load())(openDesk, screen) })

export const commands: readonly PeoplesCommand[] = [
  peoples(
    'inbox',
    'list all mail, or the mail of one agent',
    async () => (await import('../doors/cli/people/inbox.ts')).inboxCommand,
  ),
  peoples('read', 'show one message', async () => (await import('../doors/cli/people/reading.ts')).readCommand),
  peoples(
    'trace',
    'trace a message to each of its recipients',
    async () => (await import('../doors/cli/people/tracing.ts')).traceCommand,
  ),
  peoples(
    'send',
    'write to agents as the human overseer',
    async () => (await import('../doors/cli/people/writing.ts')).sendCommand,
  ),
  peoples(
    'reply',
    'answer a message as the human overseer',
    async () => (await import('../doors/cli/people/writing.ts')).replyCommand,
  ),
  peoples(
    'threads',
    'list threads and topics by their newest message',
    async () => (await import('../doors/cli/people/inbox.ts')).threadsCommand,
  ),
  peoples(
    'search',
    'find messages by their words',
    async () => (await import('../doors/cli/people/reading.ts')).searchCommand,
  ),
  peoples('who', 'show who was active lately', async () => (await import('../doors/cli/people/agents.ts')).whoCommand),
  peoples('agents', 'list all agents', async () => (await import('../doors/cli/people/agents.ts')).agentsCommand),
  peoples('watch', 'show all mail live', async () => (await import('../doors/cli/people/watch.ts')).watchCommand),
  {
    name: 'status',
    says: 'show whether a server runs on this store, and the unread mail',
    load: async ({ config, around, screen }) => {
      const { statusCommand } = await import('../doors/cli/serving/status.ts')
      return statusCommand(async () => (await import('./status.ts')).statusOf(config(), around.env), screen)
    },
  },
  {
    name: 'health',
    says: 'ask the server whether it is ready, for containers and scripts',
    load: async ({ config, screen }) => {
      const { healthCommand } = await import('../doors/cli/serving/health.ts')
      return healthCommand(async () => (await import('./health.ts')).healthOf(config()), screen)
    },
  },
  {
    name: 'stop',
    says: 'stop the servers that run on this store',
    load: async ({ config, screen }) => {
      const { stopCommand } = await import('../doors/cli/serving/status.ts')
      const stop = async ({ STORAGE_ROOT, DRAIN_SECONDS } = config()) =>
        (await import('./detach.ts')).stopServers(STORAGE_ROOT, DRAIN_SECONDS)
      return stopCommand(() => stop(), screen)
    },
  },
  {
    name: 'config',
    says: 'show every setting and where it comes from: show',
    load: async ({ settings, screen }) => {
      const { configCommand } = await import('../doors/cli/operating/config.ts')
      const { shownSettings } = await import('./config.ts')
      const { readToken, tokenFile } = await import('./token.ts')
      const shown = () => {
        const read = settings()
        const { HTTP_BEARER_TOKEN: set, STORAGE_ROOT: root } = read.config
        return shownSettings(read, set === undefined && readToken(root) !== undefined ? tokenFile(root) : undefined)
      }
      return configCommand(shown, screen)
    },
  },
  {
    name: 'token',
    says: "the operator's token: show, new, rotate",
    load: async ({ settings, screen }) => {
      const { tokenCommand } = await import('../doors/cli/serving/token.ts')
      const { readToken, tokenFile, writeToken } = await import('./token.ts')
      const keeper = () => {
        const { STORAGE_ROOT: root, HTTP_BEARER_TOKEN: set } = settings().config
        return {
          file: tokenFile(root),
          inEnvironment: set !== undefined,
          read: () => readToken(root),
          write: () => writeToken(root),
        }
      }
      return tokenCommand(keeper, screen)
    },
  },
  {
    name: 'topics',
    says: 'follow topics live, write into them, keep them in order',
    load: async ({ open, openDesk, config, screen }) => {
      const { topicsCommand } = await import('../doors/cli/topics/topics.ts')
      const { besideStore } = await import('./local-store-only.ts')
      return topicsCommand({ open: besideStore(open, config), openDesk }, screen)
    },
  },
  {
    name: 'projects',
    says: 'list the projects, make one of two, or give one another key: list, merge, rename',
    load: async ({ open, config, screen }) => {
      const { projectsCommand } = await import('../doors/cli/operating/projects.ts')
      return projectsCommand(open, async () => (await import('./store.ts')).needUnused(config()), screen)
    },
  },
  {
    name: 'list-projects',
    says: 'list the projects there are, and with --include-agents their agents',
    load: async ({ open, screen }) => (await import('../doors/cli/mail/projects.ts')).listProjectsCommand(open, screen),
  },
  {
    name: 'list-acks',
    says: 'list the messages that an agent has not acknowledged',
    load: async ({ open, screen }) => (await import('../doors/cli/mail/acks.ts')).listAcksCommand(open, screen),
  },
  {
    name: 'acks',
    says: 'show which acknowledgements an agent owes: pending, remind, overdue',
    load: async ({ open, config, screen }) =>
      (await import('../doors/cli/mail/acks.ts')).acksCommand(open, () => config().ACK_TTL_SECONDS / 60, screen),
  },
  {
    name: 'loops',
    says: 'show and end pauses of waking: list, resume',
    load: async ({ open, screen }) => (await import('../doors/cli/mail/loops.ts')).loopsCommand(open, screen),
  },
  {
    name: 'file_reservations',
    says: 'show which paths agents have reserved, and free them: list, active, soon, release',
    load: async ({ open, screen }) => (await import('../doors/cli/mail/leases.ts')).leasesCommand(open, screen),
  },
  {
    name: 'guard',
    says: 'stop commits of files that other agents have reserved: install, uninstall, status, check',
    load: async ({ open, config, around, screen }) => {
      const { guardCommand } = await import('../doors/cli/guard/guard.ts')
      const { guardSteering } = await import('./guard-steering.ts')
      return guardCommand(open, guardSteering(config, around), screen)
    },
  },
  {
    name: 'archive',
    says: 'compare the Git archive with the database, or make it anew: verify, rebuild',
    load: async ({ open, config, screen }) => {
      const { archiveCommand } = await import('../doors/cli/operating/archive.ts')
      const { archiveSteering } = await import('./archive-steering.ts')
      return archiveCommand(open, () => archiveSteering(config()), screen)
    },
  },
  {
    name: 'keys',
    says: 'keys of agents: create, list, rotate, revoke',
    load: async ({ open, screen }) => (await import('../doors/cli/operating/keys.ts')).keysCommand(open, screen),
  },
  {
    name: 'invite',
    says: 'print one line that lets the owner of an agent on another machine in',
    load: async ({ open, config, screen }) => {
      const { inviteCommand } = await import('../doors/cli/operating/invitations.ts')
      const { reachOf } = await import('./public-url.ts')
      return inviteCommand(open, () => reachOf(config()), screen)
    },
  },
  {
    name: 'invitations',
    says: 'invitations that nobody has used yet: list, revoke',
    load: async ({ open, screen }) =>
      (await import('../doors/cli/operating/invitations.ts')).invitationsCommand(open, screen),
  },
  {
    name: 'init',
    says: 'set up the MCP clients on this machine: Claude Code, Codex, Gemini CLI and others',
    load: async ({ around, config, screen }) => {
      const { initCommand } = await import('../doors/cli/operating/init.ts')
      return initCommand((await import('./init.ts')).initialising({ ...around, config }), screen)
    },
  },
  {
    name: 'join',
    says: 'use an invitation: store the key of an agent at another server, and set up the clients',
    load: async ({ around, config, screen }) => {
      const { joinCommand } = await import('../doors/cli/operating/join.ts')
      const { initialising } = await import('./init.ts')
      const joining = (await import('./join.ts')).joining(around.env)
      return joinCommand(joining, initialising({ ...around, config }), screen)
    },
  },
  {
    name: 'login',
    says: 'print a code for the login of the pages',
    load: async ({ open, config, around, screen }) => {
      const { loginCommand } = await import('../doors/cli/operating/login.ts')
      const { keepSecret } = await import('./secret.ts')
      const { openLog } = await import('./open.ts')
      const secret = () => config().SECRET_KEY ?? keepSecret(config().STORAGE_ROOT, openLog(config(), around.stderr))
      return loginCommand(open, secret, screen)
    },
  },
  ...mailCommands,
  waker('wait', 'wait until an agent has mail, for programs that wake it'),
  waker('hook', 'answer a hook of a client that takes only commands'),
  waker('attach', 'wake an idle client that has no waiter of its own'),
  ...storeCommands,
]
