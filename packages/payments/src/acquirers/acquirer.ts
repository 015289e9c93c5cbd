import type { Secret } from '@tollgate/kit/secret'
import type { ProcessingCode } from '../rules/processing-errors.ts'

export type CardFacts = { bin: string; last4: string; expiry: Date; scheme: 'visa' | 'mastercard'; codePresent: boolean }

export type CardMethod = { kind: 'card'; number: Secret; expiryMonth: number; expiryYear: number; code?: Secret | undefined }

/** What an acquirer is asked. The reference is ours, and stands for one operation however often it is asked about. */
type Asked = {
  reference: string
  merchantId: string
  currency: string
  amount: number
  /**
   * Whether this reference may have been asked before. Nobody may be waiting for the answer to that any more: what is still under
   * way cannot be found out about, and would be taken for something that never happened.
   */
  again: boolean
  /** Told to the simulator alone: how it is to behave. */
  simulation: Simulation | undefined
}

export type AuthorizeAsk = Asked & {
  descriptor: string
  card: CardFacts
  /** What is charged, as far as it is known. The simulator does without. */
  method?: CardMethod | undefined
  /** That the payer agrees to more payments after this one: at fixed intervals, or whenever the merchant asks for one. */
  series?: 'recurring' | 'unscheduled' | undefined
  /** The first payment of the series that this one continues, made without the customer. */
  previous: { reference: string; acquirerReference: string | undefined } | undefined
}

export type MoveAsk = Asked & {
  kind: 'capture' | 'refund' | 'void'
  descriptor: string | undefined
  authorization: { reference: string; acquirerReference: string | undefined; amount: number }
  /** Whether this leaves nothing to capture of an authorization of which nothing was captured: only then can some acquirers void. */
  endsAuthorization: boolean
}

/**
 * What an acquirer made of it. `unknown`: it may or may not have happened, and has to be asked about again; `unknowable`: nobody will be
 * told by asking, and somebody has to look it up there.
 */
export type Outcome =
  | { kind: 'approved'; acquirerReference: string | undefined }
  | { kind: 'declined'; code: ProcessingCode }
  | { kind: 'unknown'; reason: string; unknowable?: true }

/**
 * Somebody who moves the money of cards. Asking twice with one reference does it once. Never throws for what the acquirer or the way
 * there does: that is an outcome.
 */
export type Acquirer = {
  name: string
  authorize(ask: AuthorizeAsk): Promise<Outcome>
  move(ask: MoveAsk): Promise<Outcome>
  /**
   * Decides without being asked over any wire, where its record is in the database of ours: it is then written together with what it
   * is about. Undefined: it has to be asked like any other.
   */
  atOnce?(ask: AuthorizeAsk | MoveAsk): Decided | undefined
}

export type Decided = Exclude<Outcome, { kind: 'unknown' }>

export type Money = { currency: string; exponent: number; value: number }

/** One thing that can happen on the way to the simulator and back. */
export type Mishap =
  /** It never arrives, and no answer comes. */
  | 'lost'
  /** It is done, but no answer comes. */
  | 'unanswered'
  /** It is done five seconds later, for whoever asks again then. */
  | 'late'
  /** The bank says no. */
  | 'declined'

/** How the simulator is to behave: the `test` object of a payment, kept with the transaction. */
export type Simulation = {
  card?: {
    scheme?: 'supported' | 'unsupported' | 'unknown'
    code?: 'valid' | 'invalid'
    status?: 'valid' | 'invalid' | 'expired' | 'disabled' | 'lost'
    limit?: Money
    balance?: Money
  }
  /** For the payments endpoint. */
  fingerprint?: 'success' | 'timeout'
  tds?: {
    fingerprint?: 'success' | 'timeout' | 'unavailable'
    challenge?: boolean
    status?: 'authenticated' | 'rejected' | 'unavailable' | 'attempted'
  }
  /** What goes wrong between us and the acquirer, by operation. */
  acquirer?: {
    /** Milliseconds that every answer takes. */
    latency?: number
    authorize?: Mishap
    capture?: Mishap
    refund?: Mishap
    void?: Mishap
  }
}
