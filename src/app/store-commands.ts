/** The commands for people about the store and the installation as a whole: moving it, mending it, looking after it. */
import type { PeoplesCommand } from './command-parts.ts'
import { version } from './version.ts'

const check = (name: 'lint' | 'typecheck', says: string): PeoplesCommand => ({
  name,
  says,
  hidden: true,
  load: async ({ screen }) => {
    const { checkCommand } = await import('../doors/cli/operating/checks.ts')
    const run = async (write: (text: string) => Promise<void>) => (await import('./checks.ts')).runCheck(name, write)
    return checkCommand({ name, says, run }, screen)
  },
})

export const storeCommands: readonly PeoplesCommand[] = [
  {
    name: 'export',
    says: 'write out a project or a thread, as Markdown or JSON',
    load: async ({ open, screen }) =>
      (await import('../doors/cli/export/export-import.ts')).exportCommand(open, screen),
  },
  {
    name: 'import',
    says: 'take in a project or a thread that was exported as JSON',
    load: async ({ make, screen }) =>
      (await import('../doors/cli/export/export-import.ts')).importCommand(make, screen),
  },
  {
    name: 'backup',
    says: 'write the whole store into one file, while servers run',
    load: async ({ open, config, screen }) => {
      const { backupCommand } = await import('../doors/cli/operating/backup.ts')
      const { archiveFolder } = await import('./archive-place.ts')
      const { retentionFolder } = await import('./retention.ts')
      const installation = () => ({
        archives: archiveFolder(config()),
        exports: retentionFolder(config()),
        parley: version,
      })
      return backupCommand(open, installation, screen)
    },
  },
  {
    name: 'restore',
    says: 'make a backup the store of this installation',
    load: async ({ config, screen }) => {
      const { restoreCommand } = await import('../doors/cli/operating/restore.ts')
      return restoreCommand(async (wish) => (await import('./restore.ts')).restoreStore(config(), wish), screen)
    },
  },
  {
    name: 'retention',
    says: 'move old mail out of the store, into files',
    load: async ({ open, config, screen }) => {
      const { retentionCommand } = await import('../doors/cli/operating/retention.ts')
      const { keepIn, retentionFolder, rulesOf } = await import('./retention.ts')
      const { systemClock } = await import('../base/clock.ts')
      const retention = () => {
        const folder = retentionFolder(config())
        return { rules: rulesOf(config()), folder, keep: keepIn(folder, systemClock.now) }
      }
      return retentionCommand(open, retention, screen)
    },
  },
  {
    name: 'clear-and-reset-everything',
    says: 'delete the database, the archives and the signing key, for good',
    load: async ({ config, screen }) => {
      const { clearCommand } = await import('../doors/cli/operating/clear.ts')
      const { needUnused, removeStore, surveyStore } = await import('./store.ts')
      const clearing = () => ({
        survey: () => surveyStore(config()),
        needUnused: () => needUnused(config()),
        remove: () => removeStore(config()),
      })
      return clearCommand(clearing, screen)
    },
  },
  {
    name: 'db',
    says: 'check the database, give unused room back, tell how large it is',
    load: async ({ config, screen }) => {
      const { dbCommand } = await import('../doors/cli/operating/db.ts')
      const { withCare } = await import('./db-care.ts')
      return dbCommand((work) => withCare(config(), work), screen)
    },
  },
  {
    name: 'doctor',
    says: 'look for faults of this installation',
    load: async ({ settings, config, around, screen }) => {
      const { doctorCommand } = await import('../doors/cli/operating/doctor.ts')
      const { examine } = await import('./doctor.ts')
      const { endpoints } = await import('./doctor-endpoints.ts')
      const { guardOf } = await import('./doctor-guard.ts')
      const { clientsHere } = await import('./clients-here.ts')
      return doctorCommand(
        ({ endpoints: doors = false, guard: repository }) =>
          examine(settings, {
            checks: [
              ...(doors ? [() => endpoints(config(), around.env)] : []),
              ...(repository === undefined ? [] : [() => guardOf(config(), repository, around.env)]),
            ],
            clients: () => clientsHere(around.env),
          }),
        screen,
      )
    },
  },
  {
    name: 'call',
    says: 'call a tool of a running server, for scripts',
    load: async ({ config, around, screen }) => {
      const { callCommand } = await import('../doors/cli/serving/call.ts')
      const { serverCalls } = await import('./server-calls.ts')
      return callCommand(
        serverCalls(() => ({ config: config(), env: around.env })),
        screen,
      )
    },
  },
  {
    name: 'resource',
    says: 'read a resource of a running server, for scripts',
    load: async ({ config, around, screen }) => {
      const { resourceCommand } = await import('../doors/cli/serving/call.ts')
      const { serverCalls } = await import('./server-calls.ts')
      return resourceCommand(
        serverCalls(() => ({ config: config(), env: around.env })),
        screen,
      )
    },
  },
  {
    name: 'completions',
    says: 'print the completions of a shell: bash, zsh, fish',
    load: async ({ program, screen }) => {
      const { completionsCommand, shapeOf } = await import('../doors/cli/completions.ts')
      return completionsCommand(async () => shapeOf(await program()), screen)
    },
  },
  check('lint', 'check the style of the source'),
  check('typecheck', 'check the types of the source'),
  {
    name: 'migrate',
    says: 'bring the database up to date',
    load: async ({ config, screen }) => {
      const { migrateCommand } = await import('../doors/cli/operating/migrate.ts')
      const opening = () => import('./open.ts')
      const migrating = {
        bring: async (wish: { acceptLoss?: boolean }) => (await opening()).migrateDatabase(config(), wish),
        plan: async (copy?: string) => (await opening()).planMigrations(config(), copy),
      }
      return migrateCommand(migrating, screen)
    },
  },
]
