/** Promises about attachments: files and images that go along with mail. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const attachments = [
  { id: 'mail.attach.inline', spec: 'mail.md Attachments', says: 'A small image becomes WebP in the message itself: in attachments, and where the Markdown names it.' },
  { id: 'mail.attach.file', spec: 'DECISIONS mail 11', says: 'A larger image becomes a WebP file named by the SHA-1 of its bytes, and the Markdown names its path.' },
  { id: 'mail.attach.dedup', spec: 'mail.md Attachments', says: 'The same content is stored once in a project, however often and by whomever it is sent.' },
  { id: 'mail.attach.other', spec: 'DECISIONS mail 11', says: 'Other files up to 10 MiB are kept as they are, byte by byte.' },
  { id: 'mail.attach.uri', spec: 'DECISIONS mail 11', says: 'Data URIs are taken in attachment_paths and in the Markdown.' },
  { id: 'mail.attach.markdown', spec: 'DECISIONS mail 11', says: 'An image of the Markdown that is not there, is on the web or stands in code stays as written.' },
  { id: 'mail.attach.missing', spec: 'DECISIONS mail 11', says: 'A file of attachment_paths that is not there is an error.' },
  { id: 'mail.attach.convert', spec: 'DECISIONS mail 11', says: 'convert_images decides, else CONVERT_IMAGES: unconverted files stay as they are, Markdown as written.' },
  { id: 'mail.attach.reply', spec: 'DECISIONS mail 11', says: 'A reply takes attachments and converts images as a message does.' },
  { id: 'mail.attach.policy', spec: 'DECISIONS mail 11', says: "The sender's attachments_policy keeps images in the message or out of it; it is in the profile." },
  { id: 'mail.attach.originals', spec: 'mail.md KEEP_ORIGINAL_IMAGES', says: 'With KEEP_ORIGINAL_IMAGES the image before its conversion is stored too, and named.' },
  { id: 'mail.attach.body', spec: 'DECISIONS mail 11', says: 'The limit of a body counts what is left once its images are files; too much stays refused.' },
  { id: 'mail.attach.quota', spec: 'mail.md QUOTA_ATTACHMENTS_LIMIT_BYTES', says: 'Files beyond the quota of a project are QUOTA_EXCEEDED, and nothing of the message is stored.' },
  { id: 'mail.attach.together', spec: 'DESIGN One write', says: 'Message and attachments are there together or not at all; a blocked or refused send stores neither.' },
  { id: 'mail.attach.retry', spec: 'DECISIONS all 8', says: 'A retry of a stored message is answered with its attachments, even if the file is gone.' },
  { id: 'mail.attach.answers', spec: 'DESIGN Tests', says: 'Images in answers have a bound: beyond it data_omitted stands for them, and resource://message has them.' },
  { id: 'mail.attach.callers', spec: 'DECISIONS mail 11', says: 'Files are read for local callers and the operator; with the key of an agent only data URIs are taken.' },
  { id: 'mail.attach.inside', spec: 'DECISIONS mail 11', says: "A path that leaves the project's folder, by .. or by links, is refused." },
  { id: 'mail.attach.plain', spec: 'DECISIONS mail 11', says: "Folders, FIFOs, devices, /proc and Parley's own storage are refused, without a wait." },
  { id: 'mail.attach.steady', spec: 'DECISIONS mail 11', says: 'A file that changes, or is exchanged, while it is read is refused.' },
  { id: 'mail.attach.bomb', spec: 'DECISIONS mail 11', says: 'An image of too many pixels is refused before it is unpacked.' },
  { id: 'mail.attach.whole', spec: 'DECISIONS mail 11', says: 'An image that is cut off, broken, or another kind than its name or type says is refused.' },
  { id: 'mail.attach.svg', spec: 'DECISIONS mail 11', says: 'An SVG is kept as a file if it only draws; with script or anything that loads it is refused.' },
  { id: 'mail.attach.refused', spec: 'DESIGN Errors', says: 'A refused attachment is an error with a hint; nothing is stored, no recipient made, nothing sent.' },
  { id: 'mail.attach.aside', spec: 'DESIGN Two engines', says: 'Images are converted in a process of its own, started by the first one: nobody else is held up.' },
  { id: 'mail.attach.replaced', spec: 'DESIGN Two engines', says: 'A converter that dies or does not answer in time costs the picture it had; the next gets a new one.' },
] as const satisfies readonly Requirement[]
