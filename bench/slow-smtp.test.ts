import { once } from 'node:events'
import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterEach, expect, test } from 'vitest'
import { type SlowSmtp, startSlowSmtp } from './slow-smtp.ts'

const servers: SlowSmtp[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function start(milliseconds: number): Promise<SlowSmtp> {
  const server = await startSlowSmtp(milliseconds)
  servers.push(server)
  return server
}

const mail = { from: 'bench@example.com', to: 'somebody@example.com', subject: 'Hello', text: 'One\n.\nTwo' }

test('two mails over one connection are taken, each answer after its time', async () => {
  const { port, taken } = await start(20)
  const transport = createTransport({ host: '127.0.0.1', port, pool: true, maxConnections: 1 })
  const started = performance.now()
  await transport.sendMail(mail)
  // Greeting, EHLO, MAIL, RCPT, DATA and the end of it.
  expect(performance.now() - started).toBeGreaterThan(6 * 20 * 0.95)
  await transport.sendMail(mail)
  expect(taken()).toBe(2)
  transport.close()
})

test('a sender who hangs up in the middle leaves no mail behind, and the next one is served', async () => {
  const { port, taken } = await start(1)
  const rude = connect(port, '127.0.0.1')
  await once(rude, 'data')
  rude.write('EHLO rude\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\nSubject: half')
  await once(rude, 'data')
  rude.resetAndDestroy()
  const transport = createTransport({ host: '127.0.0.1', port })
  await transport.sendMail(mail)
  expect(taken()).toBe(1)
})
