/** An MCP door: a table of tools and resources, each declared once. Everything on the wire comes from it. */
import type {
  ContentBlock,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  ListRootsRequest,
  ListRootsResult,
  LoggingLevel,
  PromptMessage,
} from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { Code, HubError, Reason } from '../../base/errors.ts'
import type { Caller } from '../../core/access/callers.ts'
import type { Self } from '../../core/agents/connection.ts'
import type { SessionCall, Subject } from './calls.ts'

/** The context of a running tool or resource. `Scope` is read from the URL by the door (agent, project …). */
export interface CallContext<Scope> {
  readonly caller: Caller
  readonly scope: Scope
  /** The client's own name and version, where it said so. */
  readonly client: { readonly name: string; readonly version: string } | undefined
  /** The caller, as the connection names it; there for tools that leave arguments to it. */
  readonly self?: Self | undefined
  /** The name of the client's session, where it has one: newer clients open none. */
  readonly session: string | undefined
  /** Aborted when the client cancels or is gone: nobody reads the answer any more. */
  readonly signal: AbortSignal
  /** Aborted when the server stops: a waiting tool ends with its empty result, which is still written. */
  readonly stopping: AbortSignal
  /** The task that the call runs as, and when it began; it may run again after a restart. */
  readonly task?: { readonly id: string; readonly at: number } | undefined
  /** The way to talk with the client while the call runs; there for tools and prompts that say they talk. */
  readonly dialogue?: Dialogue | undefined
  /** Registers an undo, which runs if the answer of the call cannot be handed to the client. */
  ifLost(undo: () => Promise<void>): void
  /** Registers what is to be done once the answer of the call is with the client; a lost answer never runs it. */
  whenOut(work: () => void): void
}

/** A question to the client: to a person who uses it, to its model, or for the folders it works in. */
export type Question = ElicitRequest | CreateMessageRequest | ListRootsRequest

export type AnswerTo<Asked> = Asked extends ElicitRequest
  ? ElicitResult
  : Asked extends CreateMessageRequest
    ? CreateMessageResult
    : ListRootsResult

export interface Dialogue {
  /** Whether the client takes such questions. */
  can(method: Question['method']): boolean
  /**
   * Puts questions to the client, all at once, and gives the answers by their names. Clients since 2026-07-28 are asked by
   * the result of the call, and call again with the answers: the call then runs from its beginning, and what it did before
   * was taken back. Names are unique within a call.
   */
  ask<Asked extends Readonly<Record<string, Question>>>(
    questions: Asked,
  ): Promise<{ readonly [Name in keyof Asked]: AnswerTo<Asked[Name]> }>
  /** A note for the log of the client, if it asked for notes of this level; never for its model. */
  log(level: LoggingLevel, data: unknown): void
}

export interface Tool<Scope, Input extends z.ZodObject = z.ZodObject, Value = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly cluster: string
  /**
   * A strict object: an unknown argument is an error the model reads. An argument that is null counts as absent.
   * A message given to a check continues the sentence `Argument "x" …`, as in `must not be empty`.
   */
  readonly input: Input
  /** The arguments that the connection answers, where it can. */
  readonly own?: Own
  /** Makes other ways of writing the arguments, which are taken but not advertised, into the one that `input` describes. */
  accept?(args: Record<string, unknown>): Record<string, unknown>
  /** The shape of the value; absent for tools that answer formatted text, or contents. */
  readonly output?: z.ZodType<Value>
  /** The value is not always an object: it travels as `{ result: value }` (all.result.wrapped). */
  readonly wrapped?: boolean
  /** The answer to the short form; the value itself, if left out. */
  short?(value: Value): unknown
  readonly effect: 'read' | 'write'
  readonly destructive?: boolean
  readonly idempotent?: boolean
  /** Keeps the tool in the prompt of clients that defer tools. */
  readonly alwaysLoad?: boolean
  /**
   * Whether a call with these arguments may take long, and can run as a task. It may then run again after a restart: what
   * it has done before must not be done twice.
   */
  task?(input: z.output<Input>): boolean
  /** Runs each time the value of a call that ran as a task is handed to its client. */
  handOut?(value: Value, context: CallContext<Scope>): Promise<void>
  /** It talks with its client while it runs; such a tool is no task. */
  readonly talks?: boolean
  run(input: z.output<Input>, context: CallContext<Scope>): Promise<Value>
}

/** Which arguments of a tool, or variables of a resource, name its caller, and the caller's own project. */
export interface Own {
  readonly agent?: string
  readonly project?: string
  /** Stands for the description of the tool where the connection tells both. */
  readonly description?: string
}

interface Tells {
  readonly agent: boolean
  readonly project: boolean
  /** Whether a header or the URL says any of it: arguments have to agree with that. What a key says, each verb asks itself. */
  readonly aloud: boolean
}

/** A connection, which tells about its caller besides each call (core/agents/connection.ts). */
export interface Connection<Scope> {
  /** The facts before the first call: nobody is asked. */
  tells(context: Pick<CallContext<Scope>, 'caller' | 'scope'>): Tells
  /** Throws where a credential, the headers and the URL differ. `folder` asks the client for the folder it works in. */
  self(context: CallContext<Scope>, folder?: () => Promise<string | undefined>): Promise<Self>
  /** Whether an argument means what the connection says: the project of the caller, or its name. */
  agrees(context: CallContext<Scope>, self: Self, given: Self): Promise<boolean>
}

/** The result of a tool that is no value: text, images, sounds and resources, as they are. */
export class Contents {
  readonly blocks: readonly ContentBlock[]

  constructor(blocks: readonly ContentBlock[]) {
    this.blocks = blocks
  }
}

/** A text that a person chooses in a client, to begin with. Arguments are texts. */
export interface Prompt<Scope> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments?: readonly { readonly name: string; readonly description: string; readonly required?: boolean }[]
  readonly talks?: boolean
  get(args: Readonly<Record<string, string>>, context: CallContext<Scope>): Promise<readonly PromptMessage[]>
}

/** A resource that is a bare list: what is to be said beside it travels in the `_meta` of its content (all.lists.more). */
export class BareList {
  readonly items: readonly unknown[]
  readonly beside: Readonly<Record<string, unknown>>

  constructor(items: readonly unknown[], beside: Readonly<Record<string, unknown>>) {
    this.items = items
    this.beside = beside
  }
}

/** A resource that is no JSON: text or bytes of a type of its own, and what is to be said beside it. */
export class RawContent {
  readonly mimeType: string
  readonly content: string | Buffer
  readonly beside: Readonly<Record<string, unknown>> | undefined

  constructor(mimeType: string, content: string | Buffer, beside?: Readonly<Record<string, unknown>>) {
    this.mimeType = mimeType
    this.content = content
    this.beside = beside
  }
}

/** A resource in a list that depends on who asks. */
export interface ListedResource {
  readonly uri: string
  readonly name: string
  readonly description: string
}

export interface Resource<Scope> {
  /** A URI, or a template such as `resource://inbox/{agent}{?project,limit}`: query parameters in any order, any subset. */
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly own?: Own
  read(params: Readonly<Record<string, string>>, context: CallContext<Scope>): Promise<unknown>
}

/** A part of a door's tools, for callers that want a short list. */
export interface Offer {
  readonly tools: ReadonlySet<string>
  /** Instructions for a model, if the door's own name tools that are not among these. */
  readonly instructions?: string
  readonly toldInstructions?: string
  /** The way to be offered the other tools: the end of the error about one of them. */
  readonly more: string
}

/** The next call, for errors that core cannot word because each door has calls of its own; the reason goes before the code. */
export type Hints = Partial<Readonly<Record<Code | Reason, string | ((error: HubError, reach: Reach) => string)>>>

/** The calls that a hint may name: the tools that its reader is offered, and the arguments of the tool it has called. */
export interface Reach {
  offers(tool: string): boolean
  takes(argument: string): boolean
}

export function hintOf(hints: Hints | undefined, error: HubError, reach: Reach): string | undefined {
  const hint = (error.reason && hints?.[error.reason]) ?? hints?.[error.code]
  return typeof hint === 'function' ? hint(error, reach) : (hint ?? error.hint)
}

/** A tool that is none of the door's own, and how it stands in the list: what others say of it is not made of our schemas. */
export interface ListedTool<Scope> {
  // biome-ignore lint/suspicious/noExplicitAny: as in a table
  readonly tool: Tool<Scope, any, any>
  /** Undefined where nothing is known of it yet: it can be called, and does not stand in the list. */
  readonly listed: object | undefined
}

/** A resource that a client follows, and where it was when the client began. */
export interface Followed {
  readonly uri: string
  readonly since: string
}

export interface Following {
  /** The place of the update that was told last: those behind it are told. */
  readonly after?: string | undefined
  /** Resources that were not followed then: of these everything since they are. */
  readonly fresh?: ReadonlySet<string>
  /** `late`: it stands before the one that was told last. */
  tell(update: { readonly uri: string; readonly place: string; readonly late?: boolean }): void
}

/** Places are texts that a door makes and reads itself; clients hand them back. */
export interface Updates<Scope> {
  /** Where a resource is now. An unknown or foreign URI has a place too, and stays silent. */
  begin(uri: string, context: Pick<CallContext<Scope>, 'caller' | 'scope'>): Promise<string>
  /** The place behind the update that a client got last, if there can have been such a one; else where everything is now. */
  place(context: Pick<CallContext<Scope>, 'caller' | 'scope'>, last?: string): Promise<string>
  /** Tells of each change once, in order, until the returned function is called; first of those that were missed. */
  follow(
    followed: readonly Followed[],
    context: Pick<CallContext<Scope>, 'caller' | 'scope'>,
    how: Following,
  ): Promise<() => void>
}

export interface Door<Scope> {
  readonly name: string
  readonly title: string
  /** Instructions for a model before its first call; short. */
  readonly instructions: string
  /** The same for a caller whose connection tells who and where it is. */
  readonly toldInstructions?: string
  /** Goes before the instructions: who the caller is, where, and how much it has not read. */
  greet?(context: CallContext<Scope>): Promise<string | undefined>
  /** At doors whose tools leave arguments to the connection. */
  readonly connection?: Connection<Scope>
  // biome-ignore lint/suspicious/noExplicitAny: a table holds tools of every input and value; each row is checked by defineTool
  readonly tools: readonly Tool<Scope, any, any>[]
  readonly resources: readonly Resource<Scope>[]
  readonly prompts?: readonly Prompt<Scope>[]
  /** Resources that stand in the list besides those of the table, a page at a time. */
  listResources?(
    context: CallContext<Scope>,
    cursor: string | undefined,
  ): Promise<{ readonly resources: readonly ListedResource[]; readonly next: string | undefined }>
  /** Values of a variable of a resource's template that begin with a text, the likeliest first. */
  complete?(variable: string, text: string, context: CallContext<Scope>): Promise<readonly string[]>
  /** Tools besides those of the table, which differ from caller to caller; their names are none of the table's. */
  moreTools?(context: Pick<CallContext<Scope>, 'caller' | 'scope'>): Promise<readonly ListedTool<Scope>[]>
  /** Also answers `{"tool": …, "args": {…}}` with the bare value (all.short-form.value). */
  readonly shortForm?: boolean
  /**
   * The list of tools is long, and costs each agent tokens: arguments whose names tell enough are not described, the
   * bounds of arguments are read in errors, and results are advertised one level deep.
   */
  readonly terse?: boolean
  /** Stand in for the hints of errors with these codes and reasons. */
  readonly hints?: Hints
  /** The tools that this scope is offered; undefined is all of them. One offer is the same object every time. */
  offer?(scope: Scope): Offer | undefined
  /** Makes the calls of this door known one by one (`doors/mcp/usage.ts`); without it they are only counted. */
  subject?(tool: string, args: Readonly<Record<string, unknown>>): Subject
  /** Learns of each call that names the session of its client. */
  fromSession?(call: SessionCall, context: Pick<CallContext<Scope>, 'caller' | 'scope'>): void
  /** The name under which clients that ask for it are told of their own calls; without it they are not. */
  readonly logger?: string
  /** How clients are told that resources changed; without it they are not. */
  readonly updates?: Updates<Scope>
}

/** Checks a row's types against each other and forgets nothing of them. */
export function defineTool<Scope>() {
  return <Input extends z.ZodObject, Value>(tool: Tool<Scope, Input, Value>): Tool<Scope, Input, Value> => tool
}
