/** The attachments of a message: images as thumbnails, other files as links. */
import { sizeInWords } from '../../../base/limits.ts'
import type { Attachment } from '../../../core/messages/stored-attachments.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { icon } from './icons.ts'

const raster = /^image\/(png|jpeg|gif|webp)$/

/** `attachments/ab/<sha>.webp` at the address of its project. */
const fileUrl = (project: string, path: string): string => at(project, ...path.split('/'))

const inlineImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/

export function attached(visit: Visit, project: string, attachments: readonly Attachment[]): Html | undefined {
  if (attachments.length === 0) return undefined
  return html`<ul class="attached" aria-label="Attachments">${attachments.map((one) => {
    if (one.kind === 'inline')
      return (
        one.dataUri !== undefined &&
        inlineImage.test(one.dataUri) &&
        html`<li><img src="${one.dataUri}" alt="Attached image (${one.mediaType})"></li>`
      )
    if (one.kind === 'link')
      return html`<li>${icon(visit, 'clip')}${
        /^https?:\/\//i.test(one.uri)
          ? html`<a href="${one.uri}" rel="noopener noreferrer nofollow">${one.uri}</a>`
          : html`<span class="mono">${one.uri}</span>`
      }</li>`
    const url = fileUrl(project, one.path)
    const name = one.path.split('/').at(-1) ?? one.path
    return html`<li><a href="${url}">${raster.test(one.mediaType) ? html`<img src="${url}" alt="" loading="lazy">` : icon(visit, 'clip')}<span class="mono">${name.slice(0, 12)}…${name.slice(name.lastIndexOf('.'))}</span><span class="soft">${bytesInWords(one.bytes)}</span></a></li>`
  })}</ul>`
}

const bytesInWords = (bytes: number): string =>
  bytes >= 1024 ? sizeInWords(Math.ceil(bytes / 1024) * 1024) : `${bytes} bytes`
