import { lockScrolling, rememberFocus } from './page.ts'
import type { SettledPayment } from './payment.ts'

/** What became of a payment. `custom` is that of the payment, with what the customer filled in. */
export type Paid = { transaction: { id: string }; custom?: unknown }

/** Why nothing was paid: the customer closed the popup, another one was opened, or it could not be shown. */
export type NotPaid = 'closed' | 'superseded' | Error

type Message =
  | { tollgate: 'ready' }
  | { tollgate: 'paid'; result: Paid }
  | { tollgate: 'closed' }
  | { tollgate: 'failed'; message: string }

/** How long the frame may take to say that it is there. */
const patience = 15_000

/** Told to the document and not to a variable, so that it is heard by a popup of another copy of this script as well. */
const opening = 'tollgate:opening'

/** Asks for a payment in a frame over the whole page; `done` is called once, when nothing of it is left on the page. */
export function openPopup(
  { service, payment }: { service: string; payment: SettledPayment },
  done: (problem: NotPaid | null, paid?: Paid) => void,
): void {
  document.dispatchEvent(new Event(opening))
  const address = addressOf(service, payment)
  const returnFocus = rememberFocus()
  const unlock = lockScrolling()
  const { overlay, frame } = createOverlay(address.href, payment.title || 'Payment')
  let ready = false

  function finish(problem: NotPaid | null, paid?: Paid): void {
    clearTimeout(timer)
    window.removeEventListener('message', hear)
    document.removeEventListener(opening, supersede)
    document.removeEventListener('securitypolicyviolation', notice)
    overlay.remove()
    unlock()
    returnFocus()
    done(problem, paid)
  }

  function hear({ source, origin, data }: MessageEvent): void {
    if (source !== frame.contentWindow || origin !== address.origin) return
    const message = data as Message | null
    if (message?.tollgate === 'ready') greet()
    if (message?.tollgate === 'paid') finish(null, message.result)
    if (message?.tollgate === 'closed') finish('closed')
    if (message?.tollgate === 'failed') finish(new Error(message.message))
  }

  /** Once more when the frame was loaded anew. */
  function greet(): void {
    ready = true
    clearTimeout(timer)
    frame.contentWindow?.postMessage({ tollgate: 'pay', config: payment }, address.origin)
    if (document.activeElement !== frame) frame.focus({ preventScroll: true })
  }

  function supersede(): void {
    finish('superseded')
  }

  function notice({ blockedURI, disposition }: SecurityPolicyViolationEvent): void {
    if (disposition === 'enforce' && !ready && blockedURI.startsWith(address.origin))
      finish(new Error(`The Content-Security-Policy of this page keeps the popup out; add frame-src ${address.origin} to it`))
  }

  // Escape is the frame's business once it is there: only it knows whether a payment is under way.
  overlay.addEventListener('cancel', (event) => {
    event.preventDefault()
    if (ready) frame.focus({ preventScroll: true })
    else finish('closed')
  })
  // Some browsers close it at the second Escape, whatever was said to the first.
  overlay.addEventListener('close', () => overlay.isConnected && overlay.showModal())
  const timer = setTimeout(() => finish(new Error(`The popup did not load from ${address.origin}`)), patience)
  window.addEventListener('message', hear)
  document.addEventListener(opening, supersede)
  document.addEventListener('securitypolicyviolation', notice)
  // Beside the body, which some frameworks replace as a whole.
  document.documentElement.append(overlay)
  overlay.showModal?.()
  frame.focus({ preventScroll: true })
}

function addressOf(service: string, { key, locale }: SettledPayment): URL {
  const address = new URL('pos/popup', service)
  address.searchParams.set('key', key)
  if (locale) address.searchParams.set('locale', locale)
  return address
}

/** A dialog, for it is above every other one that the shop may have open, and keeps the keyboard in. */
function createOverlay(address: string, title: string): { overlay: HTMLDialogElement; frame: HTMLIFrameElement } {
  const overlay = document.createElement('dialog')
  const frame = document.createElement('iframe')
  overlay.setAttribute('aria-label', title)
  overlay.style.cssText = important('display:block', 'position:fixed', 'top:0', 'left:0', 'z-index:2147483647')
  frame.style.cssText = important('display:block', 'color-scheme:light dark')
  frame.title = title
  frame.allow = 'payment'
  frame.src = address
  overlay.append(frame)
  return { overlay, frame }
}

/** Nothing that the shop's own rules say of frames and dialogs counts. Set like this, no Content-Security-Policy minds either. */
function important(...rules: string[]): string {
  return ['all:initial', 'width:100%', 'height:100%', ...rules].map((rule) => `${rule}!important`).join(';')
}
