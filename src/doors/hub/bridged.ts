/** Tools of other servers at the hub: listed and called for those who hold a grant. */
import { z } from 'zod'
import { callBridged, listCallable } from '../../core/bridge/calling.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { type CallContext, defineTool, type ListedTool } from '../mcp/table.ts'
import { type HubScope, lookerOf } from './scope.ts'

const tool = defineTool<HubScope>()
const anything = z.looseObject({})

const resultShape = z.object({
  content: z.array(z.record(z.string(), z.unknown())),
  structured_content: z.record(z.string(), z.unknown()).nullable(),
  is_error: z.boolean(),
})

export async function bridgedTools(
  hub: Hub,
  context: Pick<CallContext<HubScope>, 'caller' | 'scope'>,
): Promise<ListedTool<HubScope>[]> {
  const tools = await listCallable(hub, lookerOf(context))
  return tools.map(({ server, name, description, schema }) => ({
    listed: { name, title: name, description, inputSchema: schema, annotations: { openWorldHint: true } },
    tool: tool({
      name,
      title: name,
      description,
      cluster: `bridge:${server}`,
      input: anything,
      output: resultShape,
      effect: 'write',
      async run(args, context) {
        const call = { tool: name, args, signal: context.signal }
        const { content, structuredContent, isError = false } = await callBridged(hub, lookerOf(context), call)
        return {
          content: content.map(({ _meta, ...part }) => part),
          structured_content: (structuredContent as Record<string, unknown> | undefined) ?? null,
          is_error: isError,
        }
      },
    }),
  }))
}
