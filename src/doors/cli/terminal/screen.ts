/** The input and output of a command: the streams of the process, and whether a person sits there. */
import { createInterface } from 'node:readline'
import { styleText } from 'node:util'

export interface Screen {
  /** A person reads the output: columns, relative times, lines that fit. Otherwise it is a file or another program. */
  readonly tty: boolean
  /** A person sees the notes and the progress, wherever the result goes. */
  readonly errTty: boolean
  readonly color: boolean
  readonly width: number
  /** Resolves when it is written, so that output does not pile up for a slow reader. Never rejects. */
  out(text: string): Promise<void>
  /** For text that is not the result. Never rejects. */
  err(text: string): Promise<void>
  /** A line beside the result: progress, or a note that there is more. */
  note(line: string): Promise<void>
  readonly input: Input
}

export interface Input {
  readonly tty: boolean
  read(): AsyncIterable<Uint8Array>
  /** Asks a person; '' if there is no answer. */
  ask(question: string): Promise<string>
}

/** The streams of a process, as far as a screen needs them. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & AsyncIterable<Uint8Array> & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
}

type Output = NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'hasColors'>>

export function processScreen({ stdin, stdout, stderr }: Streams): Screen {
  // `parley … | head` has read enough: not a failure.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
  return {
    tty: stdout.isTTY === true,
    errTty: stderr.isTTY === true,
    color: colored(stdout),
    get width() {
      return stdout.columns || 80
    },
    out: (text) => write(stdout, text),
    err: (text) => write(stderr, text),
    note: (line) => write(stderr, `${colored(stderr) ? styleText('dim', line, { validateStream: false }) : line}\n`),
    input: {
      tty: stdin.isTTY === true,
      read: () => stdin,
      ask: (question) => ask(question, stdin, stderr),
    },
  }
}

/** Node heeds NO_COLOR, FORCE_COLOR and TERM=dumb. */
const colored = (stream: Output): boolean => stream.isTTY === true && stream.hasColors?.() === true

function write(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

async function ask(question: string, input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<string> {
  await write(output, question)
  const lines = createInterface({ input })
  try {
    for await (const line of lines) return line
    // Ctrl-D leaves the cursor behind the question.
    await write(output, '\n')
    return ''
  } finally {
    // A terminal that is still read keeps the process alive.
    lines.close()
  }
}
