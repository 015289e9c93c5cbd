import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type SlowSmtp = { port: number /** How many mails it has taken. */; taken(): number; close(): Promise<void> }

/** A mail server that takes everything and keeps nothing, and thinks about every answer, the greeting too. */
export async function startSlowSmtp(milliseconds: number): Promise<SlowSmtp> {
  const sockets = new Set<Socket>()
  let taken = 0

  async function converse(socket: Socket) {
    const answer = async (line: string) => {
      await sleep(milliseconds)
      socket.write(`${line}\r\n`)
    }
    await answer('220 slow')
    let inMail = false
    for await (const line of linesOf(socket)) {
      if (inMail) {
        if (line !== '.') continue
        inMail = false
        taken += 1
        await answer('250 taken')
      } else if (/^data$/i.test(line)) {
        inMail = true
        await answer('354 go on')
      } else if (/^quit$/i.test(line)) {
        await answer('221 bye')
        socket.end()
      } else await answer(/^(ehlo|helo|mail|rcpt|rset|noop)\b/i.test(line) ? '250 fine' : '502 unknown')
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A sender who hangs up ends the conversation, and nothing else.
    converse(socket).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => taken,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
