import type { Words } from '../languages/words.ts'
import { element } from './document.ts'
import type { Opening } from './pay.ts'
import { Refused } from './post.ts'

/** The payer has closed what their bank wanted to know. */
export class Cancelled extends Error {}

/** How long an unseen page may take that does not say how long it takes. */
const longestUnseen = 10_000

/** Opens a page that works without being seen, and gives what it tells; nothing when it stays silent for too long. */
export async function openUnseen(opening: Opening): Promise<readonly string[]> {
  const frame = makeFrame('')
  frame.className = 'unseen'
  frame.tabIndex = -1
  frame.setAttribute('aria-hidden', 'true')
  document.body.append(frame)
  const listening = listen(frame)
  try {
    fillFrame(frame, opening)
    return await Promise.race([listening.hints, after(opening.timeout ?? longestUnseen, [])])
  } finally {
    listening.stop()
    frame.remove()
  }
}

/** Opens the page of the payer's bank in a dialog, until it tells something or the payer has had enough. */
export async function openSeen(opening: Opening, words: Words): Promise<readonly string[]> {
  const dialog = element<HTMLDialogElement>('challenge')
  const frame = makeFrame(words.confirmWithBank)
  const { height = 600 } = opening
  // It is as wide as the dialog, which is as wide as any bank asks for; on a phone it is as high, too.
  frame.height = String(Math.min(Math.max(height, 400), 1000))
  element('challenge-frame').replaceChildren(frame)
  const listening = listen(frame)
  const over = new AbortController()
  const cancelled = new Promise<never>((_, reject) => {
    const cancel = (event: Event) => {
      event.preventDefault()
      reject(new Cancelled('the payer cancelled'))
    }
    dialog.addEventListener('cancel', cancel, { signal: over.signal })
    element('challenge-cancel').addEventListener('click', cancel, { signal: over.signal })
  })
  const late = opening.timeout === undefined ? [] : [after(opening.timeout, undefined)]
  try {
    dialog.showModal()
    fillFrame(frame, opening)
    const hints = await Promise.race([listening.hints, cancelled, ...late])
    if (!hints) throw new Refused('PAYMENT_CHALLENGE_UNAVAILABLE', 'the payer took too long')
    return hints
  } finally {
    over.abort()
    listening.stop()
    dialog.close()
    frame.remove()
  }
}

let frames = 0

function makeFrame(title: string): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.name = `frame-${++frames}`
  frame.title = title
  frame.referrerPolicy = 'no-referrer'
  return frame
}

function fillFrame(frame: HTMLIFrameElement, { action, url, method = 'GET', fields = {} }: Opening): void {
  const address = action ?? url ?? ''
  if (!/^(https?:\/\/|\/)/.test(address))
    throw new Refused('PAYMENT_CHALLENGE_UNAVAILABLE', 'a frame cannot be filled from there')
  // It may do everything but lead this page elsewhere; what comes from our own origin could do even that, and works without one.
  const own = new URL(address, location.href).origin === location.origin
  frame.setAttribute('sandbox', `allow-scripts allow-forms allow-popups${own ? '' : ' allow-same-origin'}`)
  if (method.toUpperCase() !== 'POST') {
    frame.src = address
    return
  }
  const form = document.createElement('form')
  form.method = 'post'
  form.action = address
  form.target = frame.name
  form.hidden = true
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    input.type = 'hidden'
    input.name = name
    input.value = value
    form.append(input)
  }
  document.body.append(form)
  form.submit()
  form.remove()
}

/** Hears the first message with hints from this very frame. Whatever is in them, the service finds out whether they are its own. */
function listen(frame: HTMLIFrameElement): { hints: Promise<readonly string[]>; stop(): void } {
  const over = new AbortController()
  const hints = new Promise<readonly string[]>((resolve) => {
    const hear = ({ source, data }: MessageEvent) => {
      if (source === null || source !== frame.contentWindow) return
      const told: unknown = data?.hints
      if (Array.isArray(told) && told.every((each) => typeof each === 'string')) resolve(told)
    }
    window.addEventListener('message', hear, { signal: over.signal })
  })
  return { hints, stop: () => over.abort() }
}

function after<Value>(milliseconds: number, value: Value): Promise<Value> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, value))
}
