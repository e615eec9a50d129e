/** The thread that renders Markdown: whatever a body does to it, requests are answered meanwhile. */
import { parentPort } from 'node:worker_threads'
import { render } from './render.ts'

/** The bodies of one page. */
export interface Job {
  readonly project: string
  readonly texts: readonly string[]
}

/** Tells what it had used before a page, and each body as it is done: what takes too long is then known by its place. */
export type Told = 'ready' | { readonly used: NodeJS.CpuUsage } | { readonly at: number; readonly html: string | null }

function renderOrNothing(text: string, project: string): string | null {
  try {
    return render(text, project)
  } catch {
    return null
  }
}

parentPort?.on('message', ({ project, texts }: Job) => {
  parentPort?.postMessage({ used: process.threadCpuUsage() } satisfies Told)
  for (const [at, text] of texts.entries())
    parentPort?.postMessage({ at, html: renderOrNothing(text, project) } satisfies Told)
})
parentPort?.postMessage('ready' satisfies Told)
