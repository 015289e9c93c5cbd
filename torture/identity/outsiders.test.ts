import { createTransport } from '@tollgate/kit/smtp'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRandom } from '../random.ts'
import { startMailServer } from './mail-server.ts'
import { createPostbox } from './postbox.ts'
import { startSmsGateway } from './sms-gateway.ts'

const moods = {
  mail: ['slow', 'dead', 'silent', 'dropping', 'refusing', 'lying'],
  sms: ['slow', 'late', 'dead', 'silent', 'dropping'],
}

/** The middle of the share that each mood has of the numbers from 0 to 1. */
const lotOf = (list: readonly string[], mood: string, among = list.length) => (list.indexOf(mood) + 0.5) / among

async function mailing(patience = 10_000) {
  const postbox = createPostbox()
  const server = await startMailServer(postbox, createRandom(1))
  onTestFinished(() => server.close())
  const settings = { host: '127.0.0.1', port: server.port, user: undefined, pass: undefined }
  const transport = createTransport(
    { ...settings, adminEmail: 'us@site.test', senderName: 'Us' },
    { clientName: 'site.test', hostSetting: 'HOST', timeouts: { greeting: patience, silence: patience } },
  )
  onTestFinished(() => transport.close())
  let number = 0
  /** What came of a mail, in the words of whoever sent it. */
  const send = async (): Promise<'taken' | 'unsure' | 'refused'> => {
    const mail = { subject: 'Hello', html: 'The code is 123456', text: undefined, date: new Date() }
    return transport.send({ id: `m${++number}`, to: 'ann@people.test', ...mail }).then(
      () => 'taken' as const,
      ({ maybeSent }) => (maybeSent ? 'unsure' : 'refused'),
    )
  }
  return { postbox, server, send, sulk: (mood: string) => server.sulk(lotOf(moods.mail, mood)) }
}

test('a mail server in a good mood keeps what it is sent, and tells so', async () => {
  const { postbox, send, server } = await mailing()
  expect(await send()).toBe('taken')
  expect(postbox.handings).toMatchObject([{ id: 'm1', to: 'ann@people.test', kept: true, told: 'yes' }])
  expect(await postbox.next('ann@people.test', 0, 1_000)).toEqual({ code: '123456', link: undefined })
  expect(await postbox.next('ann@people.test', 1, 50)).toBeUndefined()
  expect(server.felt()).toBe(0)
})

test('a dead one cannot be reached until it behaves again', async () => {
  const { postbox, send, server, sulk } = await mailing()
  sulk('dead')
  expect(await send()).toBe('refused')
  server.behave()
  expect(await send()).toBe('taken')
  expect(postbox.handings.map(({ id }) => id)).toEqual(['m2'])
})

test('a silent one lets its callers wait', async () => {
  const { postbox, send, sulk, server } = await mailing(200)
  sulk('silent')
  expect(await send()).toBe('refused')
  expect(postbox.handings).toEqual([])
  expect(server.felt()).toBeGreaterThan(0)
})

test.each(['slow', 'dropping', 'refusing', 'lying'])(
  'what a %s one told of every mail is what its sender heard',
  async (mood) => {
    const { postbox, send, server, sulk } = await mailing()
    sulk(mood)
    const heard: string[] = []
    for (let mail = 0; mail < (mood === 'slow' ? 2 : 12); mail++) heard.push(await send())
    const told = Map.groupBy(postbox.handings, ({ id }) => id)
    heard.forEach((outcome, index) => {
      const last = told.get(`m${index + 1}`)?.at(-1)?.told
      expect({ mood, index, outcome }).toEqual({
        mood,
        index,
        outcome: { yes: 'taken', nothing: 'unsure', no: 'refused' }[last ?? 'no'],
      })
    })
    if (mood === 'lying') expect(postbox.handings.some(({ kept, told }) => kept !== (told === 'yes'))).toBe(true)
    expect(server.felt()).toBeGreaterThan(0)
  },
)

let gateways = 0

async function texting() {
  const postbox = createPostbox()
  // Each at a port of its own, for connections to the last one may still be kept.
  const gateway = await startSmsGateway(postbox, createRandom(++gateways), 400)
  onTestFinished(() => gateway.close())
  const send = async (patience = 10_000) => {
    const body = new URLSearchParams({ To: '+4512', Body: 'Your code is 123456' })
    return fetch(`${gateway.origin}/2010-04-01/Accounts/AC1/Messages.json`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(patience),
    })
      .then(async (answer) => ({ status: answer.status, json: await answer.json() }))
      .catch(() => undefined)
  }
  return { postbox, gateway, send, sulk: (mood: string) => gateway.sulk(lotOf(moods.sms, mood, 7)) }
}

test('an SMS gateway in a good mood keeps what it is sent', async () => {
  const { postbox, send } = await texting()
  expect(await send()).toMatchObject({ status: 201, json: { sid: expect.stringMatching(/^SM/) } })
  expect(postbox.handings).toMatchObject([{ channel: 'sms', to: '4512', kept: true, told: 'yes' }])
})

test.each(['late', 'silent', 'dropping'])('nobody hears a good word from a %s one, whatever it kept', async (mood) => {
  const { postbox, send, gateway, sulk } = await texting()
  sulk(mood)
  expect(await send(400)).toBeUndefined()
  await vi.waitFor(() => expect(gateway.felt()).toBe(1))
  expect(postbox.handings.map(({ told }) => told)).toEqual(['nothing'])
})

test('a dead gateway is not even heard of', async () => {
  const { postbox, send, gateway, sulk } = await texting()
  sulk('dead')
  expect(await send()).toBeUndefined()
  expect(postbox.handings).toEqual([])
  gateway.behave()
  expect(await send()).toMatchObject({ status: 201 })
})
