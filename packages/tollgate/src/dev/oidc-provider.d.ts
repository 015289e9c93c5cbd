/** As much of the library as the test provider and the tests across programs use; it comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Grant = { addOIDCScope(scopes: string): void; addOIDCClaims(claims: string[]): void; save(): Promise<string> }

  export type RequestContext = {
    type: string
    body: unknown
    oidc: {
      provider: Provider
      client: { clientId: string }
      session: { accountId: string }
      requestParamOIDCScopes: Iterable<string>
      requestParamClaims: Iterable<string>
    }
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    Grant: new (of: {
      clientId: string
      accountId: string
    }) => Grant
    silent: boolean
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<{ params: Readonly<Record<string, unknown>> }>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
    on(event: 'server_error', listener: (context: RequestContext, problem: Error) => void): this
  }

  export const errors: { SessionNotFound: new (description: string) => Error }

  export const interactionPolicy: {
    base(): { add(prompt: object): void }
    Prompt: new (of: { name: string; requestable: boolean }) => object
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  export function createMemoryAdapter(): (model: string) => object
}
