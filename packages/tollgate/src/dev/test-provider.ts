import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyTooLarge, parseFormBytes, readBytes, UnreadableBody } from '@tollgate/kit/body'
import { listen } from '@tollgate/kit/listen'
import { favicon } from '../welcome/frame.ts'
import { changesFromElsewhere, ownHost } from '../welcome/origin.ts'
import { type Library, openLibrary } from './oidc-library.ts'
import { claimsOf, type Person, people, readPerson, subjectOf } from './people.ts'
import { picture, policy, problemPage, signInPage } from './sign-in-page.ts'

export type TestProvider = { port: number; close(): Promise<void> }

const largest = 8_192
const mostPeople = 1_000

/** A provider that lets anybody in as whomever they like, for this machine only, so that a sign-in with one can be tried without registering. */
export async function startTestProvider(options: { host: string; port: number; redirectUri: string }): Promise<TestProvider> {
  const known = new Map<string, Person>()
  let library: Promise<Library> | undefined
  const open = () =>
    openLibrary({
      issuer: issuer(),
      redirectUri: options.redirectUri,
      interactionPath: (uid) => `/sign-in/${uid}`,
      claimsOf(subject) {
        const person = known.get(subject)
        return person && claimsOf(person, issuer())
      },
      errorPage: ({ error, error_description: description = error }) =>
        problemPage('This sign-in cannot go on', `The request is not one that a provider can answer: ${description}.`),
    })

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(always)) response.setHeader(name, value)
    if (!ownHost(request, options.host))
      return send(response, 421, problemPage('Wrong address', 'The test provider is for this machine only.'))
    const [path = '/'] = (request.url ?? '/').split('?', 1)
    if (path === '/')
      return send(response, 200, problemPage('The test provider is running', 'Begin a sign-in on the welcome page.'))
    if (path === '/favicon.svg') return sendPicture(response, favicon)
    const initials = initialsIn(path)
    if (initials !== undefined) return sendPicture(response, picture(initials))
    library ??= open()
    if (path.startsWith('/sign-in/')) return interact(await library, request, response)
    return (await library).provider.callback()(request, response)
  }

  async function interact({ provider, SessionNotFound }: Library, request: IncomingMessage, response: ServerResponse) {
    try {
      const { params } = await provider.interactionDetails(request, response)
      if (request.method === 'GET' || request.method === 'HEAD')
        return send(response, 200, signInPage({ name: '', email: hintIn(params), verified: true }))
      if (request.method !== 'POST')
        return send(response, 405, problemPage('Wrong method', 'This page is opened, or sent as a form.'))
      if (changesFromElsewhere(request))
        return send(response, 403, problemPage('Refused', 'Only the page of the test provider itself may choose somebody.'))
      const form = parseFormBytes(await readBytes(request, largest))
      const finish = (result: object) =>
        provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
      if (form.action === 'cancel')
        return await finish({ error: 'access_denied', error_description: 'The sign-in was cancelled' })
      const chosen = chosenIn(form)
      if ('complaint' in chosen) return send(response, 400, signInPage(typedIn(form), chosen.complaint))
      remember(chosen)
      // Whatever an app may ask for is answered by the one choice.
      return await finish({ login: { accountId: subjectOf(chosen), remember: false }, consent: {}, select_account: {} })
    } catch (problem) {
      if (problem instanceof SessionNotFound)
        return send(response, 400, problemPage('This sign-in is over', 'Go back to where you came from, and begin again.'))
      if (problem instanceof BodyTooLarge)
        return send(response, 413, problemPage('Too long', `At most ${largest} bytes are read.`))
      if (problem instanceof UnreadableBody) return send(response, 400, problemPage('Not a form', `${problem.message}.`))
      throw problem
    }
  }

  function remember(person: Person): void {
    const [oldest] = known.keys()
    if (oldest !== undefined && known.size >= mostPeople) known.delete(oldest)
    known.set(subjectOf(person), person)
  }

  const listening = await listen({
    host: options.host,
    port: options.port,
    portSetting: 'TOLLGATE_PROVIDER_PORT',
    handler: (request, response) => {
      respond(request, response).catch((problem) => {
        console.error('The test provider failed:', problem)
        if (response.headersSent) response.destroy()
        else send(response, 500, problemPage('The test provider failed', 'The terminal in which Tollgate runs says why.'))
      })
    },
    malformed: () => ({ contentType: 'text/plain', body: '' }),
  })
  const issuer = () => `http://localhost:${listening.port}`
  return { port: listening.port, close: () => listening.drain(0.2) }
}

const always = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

function send(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': Buffer.byteLength(page) }).end(page)
}

/** Apps show it on their own pages. */
function sendPicture(response: ServerResponse, svg: string): void {
  const headers = {
    'Content-Type': 'image/svg+xml',
    'Cache-Control': 'max-age=86400',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  }
  response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(svg) }).end(svg)
}

function initialsIn(path: string): string | undefined {
  const [, written] = /^\/pictures\/([^/]{1,40})\.svg$/.exec(path) ?? []
  if (written === undefined) return undefined
  try {
    const initials = decodeURIComponent(written)
    return /^(\p{L}{1,2}|-)$/u.test(initials) ? initials : undefined
  } catch {
    return undefined
  }
}

type Form = ReturnType<typeof parseFormBytes>

function chosenIn(form: Form): Person | { complaint: string } {
  if (form.person === undefined) return readPerson(typedIn(form))
  const person = typeof form.person === 'string' && Object.hasOwn(people, form.person) ? people[form.person] : undefined
  return person ?? { complaint: 'Nobody of that name is here.' }
}

function typedIn({ name, email, verified }: Form) {
  const text = (value: unknown) => (typeof value === 'string' ? value.trim() : '')
  return { name: text(name), email: text(email), verified: verified === 'true' }
}

function hintIn({ login_hint: hint }: Readonly<Record<string, unknown>>): string {
  return typeof hint === 'string' ? hint.slice(0, 200) : ''
}
