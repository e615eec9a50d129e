/** Tools of other servers at the hub: listed and called for those who hold a grant. */
import { z } from 'zod'
import type { Hub } from '../../core/hub/hub.ts'
import { callRemoteTool, listCallable } from '../../core/remote-tools/calling.ts'
import { type CallContext, defineTool, type ListedTool } from '../mcp/table.ts'
import { inputOf } from './remote-tool-input.ts'
import { type HubScope, hubCallerOf } from './scope.ts'

const tool = defineTool<HubScope>()

const resultShape = z.object({
  content: z.array(z.record(z.string(), z.unknown())),
  structured_content: z.record(z.string(), z.unknown()).nullable(),
})

export async function remoteToolsOf(
  hub: Hub,
  context: Pick<CallContext<HubScope>, 'caller' | 'scope'>,
): Promise<ListedTool<HubScope>[]> {
  const tools = await listCallable(hub, hubCallerOf(context))
  return tools.map(({ server, name, known, description, schema, annotations }) => ({
    listed: known ? { name, title: name, description, inputSchema: schema, annotations } : undefined,
    tool: tool({
      name,
      title: name,
      description,
      cluster: `bridge:${server}`,
      input: inputOf(schema),
      output: resultShape,
      effect: 'write',
      async run(args, context) {
        const call = { tool: name, args, signal: context.signal }
        const { content, structuredContent } = await callRemoteTool(hub, hubCallerOf(context), call)
        return {
          content: content.map(({ _meta, ...part }) => part),
          structured_content: (structuredContent as Record<string, unknown> | undefined) ?? null,
        }
      },
    }),
  }))
}
