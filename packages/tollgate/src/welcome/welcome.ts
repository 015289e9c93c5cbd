import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from '@tollgate/kit/listen'
import type { SmtpSink } from '@tollgate/kit/smtp-sink'
import { send, sentence } from './answer.ts'
import { openEvents } from './events.ts'
import type { Facts } from './facts.ts'
import { mailSource, openInbox } from './inbox.ts'
import { changesFromElsewhere, ownHost } from './origin.ts'
import { openSite } from './site.ts'
import { openSmsBox } from './sms.ts'

export type { Facts } from './facts.ts'

export type Welcome = { port: number; close(): Promise<void> }

/** The pages that somebody who has just started Tollgate opens first. They show secrets, so they answer this machine only. */
export async function startWelcome(options: { host: string; port: number; facts: Facts; inbox: SmtpSink }): Promise<Welcome> {
  const sms = openSmsBox()
  const inbox = openInbox([mailSource(options.inbox), sms])
  const events = openEvents(inbox)
  const site = openSite({ facts: options.facts, inbox, sms, events })

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!ownHost(request, options.host))
      return send(response, sentence(421, 'These pages are for this machine only. Open them at http://localhost.'))
    if (changesFromElsewhere(request))
      return send(response, sentence(403, 'Only the pages of the inbox itself may change it from a browser.'))
    send(response, await site(request))
  }

  const listening = await listen({
    host: options.host,
    port: options.port,
    portSetting: 'TOLLGATE_PORT',
    handler: (request, response) => {
      respond(request, response).catch((problem) => send(response, sentence(500, `The welcome page failed: ${problem}`)))
    },
    malformed: () => ({ contentType: 'text/plain', body: '' }),
  })
  return {
    port: listening.port,
    async close() {
      inbox.close()
      events.close()
      await listening.drain(0.2)
    },
  }
}
