import type { ServerResponse } from 'node:http'
import { type Answer, answer } from './answer.ts'
import type { Inbox } from './inbox.ts'
import { startOf, titleOf } from './inbox-page.ts'

export type Events = { stream(): Answer; close(): void }

/** Every event tells how the inbox stands, not what changed: whoever missed some needs only the next. */
export function openEvents(inbox: Inbox): Events {
  const streams = new Set<ServerResponse>()
  const stop = inbox.onChange(() => {
    const event = standing(inbox)
    for (const stream of streams) stream.write(event)
  })
  function join(response: ServerResponse): void {
    streams.add(response)
    response.once('close', () => streams.delete(response))
    response.write(`retry: 1000\n${standing(inbox)}`)
  }
  return {
    // The connection ends with the stream; otherwise it would be kept for a next request and keep the server from closing.
    stream: () => answer(200, 'text/event-stream', join, { Connection: 'close' }),
    close() {
      stop()
      for (const stream of streams) stream.end()
    },
  }
}

function standing(inbox: Inbox): string {
  const messages = inbox.messages()
  const [newest] = messages
  const latest = newest && {
    kind: newest.kind,
    id: newest.id,
    subject: newest.kind === 'mail' ? titleOf(newest) : startOf(newest.text),
    to: newest.to,
  }
  return `event: inbox\ndata: ${JSON.stringify({ count: messages.length, latest })}\n\n`
}
