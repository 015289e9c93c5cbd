import type { IncomingMessage } from 'node:http'
import { BodyTooLarge, parseFormBytes, readBytes, UnreadableBody } from '@tollgate/kit/body'
import { type Answer, json } from './answer.ts'
import { findCode } from './code.ts'
import type { Sms, Source } from './inbox.ts'
import { sentByPage } from './origin.ts'

export type SmsBox = Source & { deliver(to: string, text: string): Sms }

export function openSmsBox(keep = 200): SmsBox {
  const kept: Sms[] = []
  const listeners = new Set<() => void>()
  let lastId = 0
  return {
    deliver(to, text) {
      // The prefix keeps it apart from the mails, which are counted, too.
      const sms: Sms = {
        kind: 'sms',
        id: `sms-${++lastId}`,
        receivedAt: new Date(),
        to: [`+${to}`],
        text,
        links: findLinks(text),
        code: findCode(text),
      }
      kept.push(sms)
      if (kept.length > keep) kept.shift()
      for (const listener of listeners) listener()
      return sms
    },
    messages: () => [...kept],
    onMessage(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clear: () => void kept.splice(0),
  }
}

const largest = 4_096
const form = 'application/x-www-form-urlencoded'

/** How the identity service's gateway for development, or any program on this machine, sends an SMS. */
export async function receiveSms(box: SmsBox, request: IncomingMessage): Promise<Answer> {
  // A form of any web page could otherwise show the developer whatever it likes, codes and links included.
  if (sentByPage(request)) return refuse(403, 'Programs send messages here; a web page may not.')
  if (contentType(request) !== form) return refuse(415, `An SMS is sent as a form: Content-Type must be ${form}.`)
  try {
    const { to, text } = parseFormBytes(await readBytes(request, largest))
    if (typeof to !== 'string' || !/^\d{1,15}$/.test(to))
      return refuse(400, 'The field "to" must be a phone number: its country code and up to 15 digits in all, without a plus.')
    if (typeof text !== 'string' || text.trim() === '')
      return refuse(400, 'The field "text" must hold what the SMS says, and it is missing or empty.')
    return json({ id: box.deliver(to, text).id })
  } catch (problem) {
    if (problem instanceof BodyTooLarge) return refuse(413, `An SMS may take ${largest} bytes as a form, and this one is larger.`)
    if (problem instanceof UnreadableBody) return refuse(400, `The form cannot be read: ${problem.message}.`)
    throw problem
  }
}

/** In the words that the gateway looks for, so that the log of the identity service tells what was wrong. */
function refuse(status: number, message: string): Answer {
  return json({ message }, status)
}

function contentType({ headers }: IncomingMessage): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
}

// The last character is none that usually ends the sentence around the address.
const address = /https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi

function findLinks(text: string): string[] {
  return [...new Set(text.match(address))].filter((link) => URL.canParse(link))
}
