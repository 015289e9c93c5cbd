import { type Payment, settlePayment } from './payment.ts'
import { type NotPaid, openPopup, type Paid } from './popup.ts'

export type { Amount, Field, Interval, Payment, PlannedPayment } from './payment.ts'
export type { NotPaid, Paid } from './popup.ts'

export type Options = {
  /** The public key of the merchant who is paid. */
  key?: string
  /** Where the payments service is. A page that loads the script from there need not say. */
  url?: string
}

export type Callback = (err: NotPaid | null, result?: Paid) => void

export type Shop = {
  /** Opens the popup. The callback is called once, after `pay` has returned. */
  pay(payment: Payment, callback: Callback): void
  /** Resolves to what was paid, or rejects with what the callback would get as its first argument. */
  pay(payment: Payment): Promise<Paid>
}

/** Lets the customers of a shop pay in a popup over its page. */
export function Paylike(options: Options): Shop {
  if (typeof options !== 'object' || options === null)
    throw new TypeError("Paylike: call it with an object: Paylike({ key: '…' })")
  const service = serviceOf(options.url)

  function start(payment: Payment, callback: Callback): void {
    // Never before `pay` returns, and outside of all our own work: what a callback throws is the shop's to see.
    const done: Callback = (...outcome) => queueMicrotask(() => callback(...outcome))
    try {
      openPopup({ service, payment: settlePayment(payment, options.key) }, done)
    } catch (problem) {
      done(problem as Error)
    }
  }

  function pay(payment: Payment, callback: Callback): void
  function pay(payment: Payment): Promise<Paid>
  function pay(payment: Payment, callback?: Callback): Promise<Paid> | undefined {
    if (callback === undefined)
      return new Promise((resolve, reject) => start(payment, (err, paid) => (paid ? resolve(paid) : reject(err))))
    if (typeof callback !== 'function') throw new TypeError('pay: the second argument must be a function')
    start(payment, callback)
    return undefined
  }
  return { pay }
}

function serviceOf(url: unknown): string {
  if (typeof url !== 'string' || !/^https?:\/\/./.test(url))
    throw new TypeError('url: must be the address of the payments service, such as https://pay.example.com')
  return new URL(url.endsWith('/') ? url : `${url}/`).href
}
