/** The parameter that the header `Mcp-Name` repeats, for each method that has one (SEP-2243, SEP-2663). */
const nameField: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

export const nameFieldOf = (method: string): string | undefined =>
  Object.hasOwn(nameField, method) ? nameField[method] : undefined
