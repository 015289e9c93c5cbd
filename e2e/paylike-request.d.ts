/** As much of the official request helper as the tests use; it comes without types. */
declare module '@paylike/request' {
  type Options = { version: number; data: object; fetch: typeof fetch; clientId?: string; timeout?: number }

  function request(endpoint: string, options: Options): { first<Value>(): Promise<Value>; toArray<Value>(): Promise<Value[]> }

  namespace request {
    class RateLimitError extends Error {
      retryAfter: number | undefined
    }
    class ServerError extends Error {
      status: number
    }
    class ResponseError extends Error {
      code: string
      requestId: string
    }
  }

  export = request
}
