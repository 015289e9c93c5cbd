import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import { createTransport } from 'nodemailer'
import { type Facts, startWelcome } from './welcome.ts'

type Reply = { status: number; headers: IncomingHttpHeaders; body: string }

type Asking = { method?: string; headers?: Record<string, string>; body?: string | Buffer }

export type Visit = {
  port: number
  sink: SmtpSink
  /** By node:http, because fetch lets nobody choose the Host header. */
  ask(path: string, asking?: Asking): Promise<Reply>
  sendMail(mail: { subject?: string; text?: string; html?: string; to?: string }): Promise<void>
  sendSms(to: string, text: string): Promise<Reply>
  close(): Promise<void>
}

/** For tests: the welcome pages with a mail server behind them. */
export async function visitWelcome(some: Partial<Facts> = {}): Promise<Visit> {
  const sink = await startSmtpSink()
  const mailer = createTransport({ host: '127.0.0.1', port: sink.port, ignoreTLS: true, pool: true })
  const facts: Facts = {
    version: '9.8.7',
    services: [],
    keys: [],
    database: 'postgres://tollgate@127.0.0.1:5433/tollgate',
    smtp: { host: '127.0.0.1', port: sink.port },
    sms: 'http://localhost:8080/sms',
    firstSteps: [],
    dataFolder: '/home/ada/.tollgate',
    ...some,
  }
  const welcome = await startWelcome({ host: '127.0.0.1', port: 0, facts, inbox: sink })
  const here: Visit = {
    port: welcome.port,
    sink,
    async ask(path, { method = 'GET', headers = {}, body } = {}) {
      const request = httpRequest({ host: '127.0.0.1', port: welcome.port, path, method, headers, agent: false })
      request.end(body)
      return new Promise((resolve, reject) => {
        request.once('error', reject)
        request.once('response', async (response) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) })
        })
      })
    },
    async sendMail(mail) {
      await mailer.sendMail({
        from: 'Tollgate <no-reply@example.com>',
        to: 'ada@example.com',
        subject: 'Hello',
        text: 'Hi',
        ...mail,
      })
    },
    sendSms: (to, text) =>
      here.ask('/sms', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ to, text }).toString(),
      }),
    async close() {
      mailer.close()
      await welcome.close()
      await sink.close()
    },
  }
  return here
}
