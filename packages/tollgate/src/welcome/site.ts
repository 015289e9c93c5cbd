import type { IncomingMessage } from 'node:http'
import { openShop } from '../shop/shop.ts'
import { type Answer, answer, foreignHtml, json, notFound, nothing, page, sentence } from './answer.ts'
import { arrivalPage } from './arrival-page.ts'
import type { Events } from './events.ts'
import type { Facts } from './facts.ts'
import { favicon, type Surroundings } from './frame.ts'
import { checkHealth } from './health.ts'
import type { Inbox, Mail, Message } from './inbox.ts'
import { inboxPage, titleOf } from './inbox-page.ts'
import { messagePage } from './message-page.ts'
import { receiveSms, type SmsBox } from './sms.ts'
import { welcomePage } from './welcome-page.ts'

type Method = 'GET' | 'POST' | 'DELETE'
/** What it does is called with what the path leaves open. */
type Route = { path: RegExp; does: { [method in Method]?: (id: string, request: IncomingMessage) => Answer | Promise<Answer> } }

type Site = (request: IncomingMessage) => Answer | Promise<Answer>

export function openSite({ facts, inbox, sms, events }: { facts: Facts; inbox: Inbox; sms: SmsBox; events: Events }): Site {
  const around = (): Surroundings => ({ version: facts.version, count: inbox.messages().length })
  const withMessage = (show: (message: Message) => Answer) => (id: string) => {
    const message = inbox.find(id)
    return message ? show(message) : notFound(around())
  }
  const withMail = (show: (mail: Mail) => Answer) =>
    withMessage((message) => (message.kind === 'mail' ? show(message) : notFound(around())))

  async function welcome(): Promise<Answer> {
    const main = welcomePage(facts, await checkHealth(facts.services))
    return page({ title: 'Tollgate', at: 'welcome', main }, around())
  }

  function showArrival(): Answer {
    const identity = facts.services.find(({ name }) => name === 'identity')
    if (!identity) return notFound(around())
    const { origin } = new URL(identity.url)
    return page({ title: 'Signed in – Tollgate', main: arrivalPage(identity.url, facts), asks: [origin] }, around())
  }

  function showInbox(): Answer {
    return page({ title: 'Inbox – Tollgate', at: 'inbox', main: inboxPage(inbox.messages(), facts) }, around())
  }

  const shop = facts.shop && openShop(facts.shop)
  const shopRoutes: Route[] = shop
    ? [
        { path: /^\/shop$/, does: { GET: shop.catalogue } },
        { path: /^\/shop\/leaf\.svg$/, does: { GET: shop.leaf } },
        { path: /^\/shop\/order$/, does: { GET: (_, request) => shop.order(parameterOf(request, 'transactionId')) } },
      ]
    : []

  function clear(then: Answer): Answer {
    inbox.clear()
    return then
  }

  const routes: Route[] = [
    { path: /^\/$/, does: { GET: welcome } },
    ...shopRoutes,
    { path: /^\/signed-in$/, does: { GET: showArrival } },
    { path: /^\/status\.json$/, does: { GET: async () => json({ services: await checkHealth(facts.services) }) } },
    {
      path: /^\/favicon\.svg$/,
      does: { GET: () => answer(200, 'image/svg+xml', favicon, { 'Cache-Control': 'max-age=86400' }) },
    },
    { path: /^\/inbox$/, does: { GET: showInbox, DELETE: () => clear(nothing(204)) } },
    // A form cannot send DELETE.
    { path: /^\/inbox\/clear$/, does: { POST: () => clear(nothing(303, { Location: '/inbox' })) } },
    { path: /^\/inbox\/events$/, does: { GET: events.stream } },
    { path: /^\/inbox\.json$/, does: { GET: () => json({ messages: inbox.messages().map(tell) }) } },
    { path: /^\/sms$/, does: { POST: (_, request) => receiveSms(sms, request) } },
    {
      path: /^\/inbox\/([\w-]+)$/,
      does: {
        GET: withMessage((message) =>
          page({ title: `${titleOf(message)} – Tollgate`, at: 'inbox', main: messagePage(message) }, around()),
        ),
      },
    },
    {
      path: /^\/inbox\/([\w-]+)\/html$/,
      does: { GET: withMail(({ html }) => (html === undefined ? notFound(around()) : foreignHtml(html))) },
    },
    {
      path: /^\/inbox\/([\w-]+)\/raw$/,
      does: { GET: withMail(({ raw }) => answer(200, 'text/plain; charset=utf-8', raw)) },
    },
  ]

  return (request) => {
    const { method = 'GET', url = '/' } = request
    const [path = '/'] = url.split('?', 1)
    const route = routes.find((each) => each.path.test(path))
    if (!route) return notFound(around())
    const run = route.does[(method === 'HEAD' ? 'GET' : method) as Method]
    if (run) return run(route.path.exec(path)?.[1] ?? '', request)
    const allowed = Object.keys(route.does)
      .flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]))
      .join(', ')
    return sentence(405, `${path} answers to ${allowed}, not to ${method}.`, { Allow: allowed })
  }
}

function parameterOf({ url = '' }: IncomingMessage, name: string): string {
  return new URLSearchParams(url.split('?', 2)[1]).get(name) ?? ''
}

/** For programs; the source would double every message, and has an address of its own. */
function tell(message: Message): object {
  return { ...message, raw: undefined, url: `/inbox/${message.id}` }
}
