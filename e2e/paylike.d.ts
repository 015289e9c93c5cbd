/** As much of the official client as the tests use; it comes without types. */
declare module 'paylike' {
  type Callback<Value> = (problem: unknown, value?: Value) => void

  /** A promise of Bluebird, which catches by class. */
  type Promised<Value> = Promise<Value> & {
    catch<Caught>(kind: new (message: string) => Error, caught: (problem: Error) => Caught): Promised<Value | Caught>
  }

  type Read<Item> = (abort: unknown, next: (end: unknown, item: Item) => void) => void

  type Identified = { id: string }

  type Cursor<Item> = {
    filter(fields: Record<string, unknown>): Cursor<Item>
    sort(order: unknown): Cursor<Item>
    limit(limit?: number): Cursor<Item>
    before(id: string): Cursor<Item>
    after(id: string): Cursor<Item>
    until(date: Date): Cursor<Item>
    since(date: Date): Cursor<Item>
    batchSize(size: number): Cursor<Item>
    keepAlive(delay?: number | boolean): Cursor<Item>
    pull<Result>(sink: (read: Read<Item>) => Result): Result
    toArray(callback?: Callback<Item[]>): Promised<Item[]>
    source: Read<Item>
  }

  type Service = {
    get(path: string, query?: object): Promised<Record<string, unknown>>
    post(path: string, body?: object): Promised<Record<string, unknown> | undefined>
    put(path: string, body?: object): Promised<undefined>
    delete(path: string, query?: object): Promised<undefined>
  }

  type Told = Identified & Record<string, unknown>
  type Movement = { amount?: number | undefined; currency?: string; descriptor?: string }

  type Errors = Record<
    'Error' | 'AuthorizationError' | 'PermissionsError' | 'NotFoundError' | 'ConflictError' | 'ValidationError',
    new (
      message: string,
    ) => Error & { data?: unknown }
  >

  type Client = Errors & {
    service: Service
    setKey(key: string): void
    apps: {
      create(app?: { name?: string }, callback?: Callback<Told>): Promised<Told & { key: string; name: string | null }>
      findOne(callback?: Callback<Told>): Promised<Told>
      merchants: { find(appId: string): Cursor<Told> }
    }
    merchants: {
      create(merchant?: object, callback?: Callback<string>): Promised<string>
      update(merchantId: string, changes: object, callback?: Callback<undefined>): Promised<undefined>
      findOne(merchantId: string, callback?: Callback<Told>): Promised<Told>
      users: {
        add(merchantId: string, user: { email?: string }, callback?: Callback<undefined>): Promised<undefined>
        revoke(merchantId: string, userId: string, callback?: Callback<undefined>): Promised<undefined>
        find(merchantId: string): Cursor<Told>
      }
      apps: {
        add(merchantId: string, app: { appId: string }, callback?: Callback<undefined>): Promised<undefined>
        revoke(merchantId: string, appId: string, callback?: Callback<undefined>): Promised<undefined>
        find(merchantId: string): Cursor<Told>
      }
      lines: { find(merchantId: string): Cursor<Told> }
      transactions: {
        create(merchantId: string, transaction: object, callback?: Callback<string>): Promised<string>
        find(merchantId: string): Cursor<Told>
      }
    }
    transactions: {
      capture(transactionId: string, movement: Movement, callback?: Callback<undefined>): Promised<undefined>
      refund(transactionId: string, movement: Movement, callback?: Callback<undefined>): Promised<undefined>
      void(transactionId: string, movement: Movement, callback?: Callback<undefined>): Promised<undefined>
      findOne(transactionId: string, callback?: Callback<Told>): Promised<Told & { trail: Record<string, unknown>[] }>
    }
    cards: {
      create(merchantId: string, card: { transactionId?: string; notes?: string }, callback?: Callback<string>): Promised<string>
      findOne(cardId: string, callback?: Callback<Told>): Promised<Told>
    }
  }

  const Paylike: Errors & {
    (key?: string, options?: { url?: string; key?: string }): Client
    Cursor: new (service: Service, url: string, batchSize?: number) => Cursor<Told>
  }
  export = Paylike
}
