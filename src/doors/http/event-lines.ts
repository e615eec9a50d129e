/** The client's side of a stream of events (SSE): the events in its text, as they come. */

interface ReadEvent {
  readonly event?: string
  readonly id?: string
  /** Its lines of data. */
  readonly text: string
}

/** `tooLong` makes the error of a stream with an event of more than `most` characters. */
export async function* readEvents(
  chunks: AsyncIterable<string>,
  { most, tooLong }: { most: number; tooLong: () => Error },
): AsyncGenerator<ReadEvent> {
  let rest = ''
  let data: string[] = []
  let fields: { event?: string; id?: string } = {}
  for await (const chunk of chunks) {
    rest += chunk
    if (rest.length > most) throw tooLong()
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line === '') {
        if (data.length > 0 || fields.id !== undefined) yield { text: data.join('\n'), ...fields }
        data = []
        fields = {}
      } else if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
      else if (line.startsWith('id:')) fields.id = line.slice(3).trim()
      else if (line.startsWith('event:')) fields.event = line.slice(6).trim()
    }
  }
}
