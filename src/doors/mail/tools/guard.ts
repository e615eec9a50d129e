/** The tools of the mail door about guards: hooks that keep commits off reserved files. */
import { z } from 'zod'
import type { Hub } from '../../../core/hub/hub.ts'
import { installGuard, uninstallGuard } from '../../../core/leases/guard-hooks.ts'
import { defineTool } from '../../mcp/table.ts'
import type { About } from '../about.ts'
import { projectKey } from '../fields.ts'
import type { MailScope } from '../scope.ts'

const tool = defineTool<MailScope>()
const cluster = 'file reservations'
const repository = z.string().max(4096)

export function guardTools(hub: Hub, { guards }: About) {
  const install = tool({
    name: 'install_precommit_guard',
    title: 'Install commit guard',
    description:
      'Add a Git hook to a local checkout that stops commits of files others reserved. Commit with AGENT_NAME set.',
    cluster,
    own: { project: 'project_key' },
    input: z.strictObject({ project_key: projectKey, code_repo_path: repository }),
    output: z.object({ hook: z.string() }),
    effect: 'write',
    idempotent: true,
    run: async ({ project_key: project, code_repo_path: folder }, { caller }) => ({
      hook: (await installGuard(hub, caller, { project, folder, installation: guards() })).hook,
    }),
  })

  const uninstall = tool({
    name: 'uninstall_precommit_guard',
    title: 'Remove commit guard',
    description: 'Remove the commit guard from a checkout.',
    cluster,
    input: z.strictObject({ code_repo_path: repository }),
    output: z.object({ removed: z.boolean() }),
    effect: 'write',
    idempotent: true,
    run: async ({ code_repo_path }, { caller }) => ({ removed: await uninstallGuard(hub, caller, code_repo_path) }),
  })

  return [install, uninstall]
}
