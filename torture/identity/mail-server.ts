import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDoorway } from '../doorway.ts'
import type { Random } from '../random.ts'
import type { Outsider } from '../stage.ts'
import { createTemper } from '../temper.ts'
import type { Handing, Postbox } from './postbox.ts'

/**
 * How a mail server behaves: `slow` thinks about every answer; `dead` cannot be reached; `silent` says nothing any more; `dropping` hangs
 * up in the middle of a conversation, even after the end of a mail; `refusing` has no time at the moment; `lying` takes a mail and says no, says
 * yes and throws it away, or says something that no mail server says.
 */
const moods = ['slow', 'dead', 'silent', 'dropping', 'refusing', 'lying'] as const

export type MailServer = Outsider & { port: number; close(): Promise<void> }

type Reply = string | 'hang up' | 'say nothing'

/** A mail server that holds real conversations and has moods. What comes of every mail is written down. */
export async function startMailServer(postbox: Postbox, random: Random): Promise<MailServer> {
  const temper = createTemper(moods)

  async function converse(socket: Socket) {
    const answer = async (line: string) => {
      const reply = spoil(line)
      if (temper.mood !== 'well') temper.felt++
      if (temper.mood === 'slow') await sleep(random.between(20, 400))
      if (reply === 'hang up') return void socket.destroy()
      if (reply !== 'say nothing') socket.write(`${reply}\r\n`)
    }
    await answer('220 at your service')
    let to = ''
    let content: string[] | undefined
    for await (const line of linesOf(socket)) {
      if (content && line === '.') {
        const mail = { to, text: content.join('\r\n') }
        content = undefined
        await answerMail(socket, mail)
      } else if (content) {
        content.push(line.replace(/^\./, ''))
        // In the middle of a mail: whatever came so far is no mail.
        if (temper.mood === 'dropping' && random.chance(0.02)) return void socket.destroy()
      } else if (/^data$/i.test(line)) {
        await answer('354 go on')
        content = []
      } else if (/^quit$/i.test(line)) {
        await answer('221 bye')
        socket.end()
      } else {
        to = /^rcpt to:<([^>]*)>/i.exec(line)?.[1] ?? to
        await answer(/^(ehlo|helo|mail|rcpt|rset|noop)\b/i.test(line) ? '250 fine' : '502 unknown')
      }
    }
  }

  /** What is said instead of the right thing, outside of the end of a mail. */
  function spoil(line: string): Reply {
    if (temper.mood === 'silent') return 'say nothing'
    if (temper.mood === 'dropping' && random.chance(0.2)) return 'hang up'
    if (temper.mood === 'refusing' && random.chance(0.5)) return line.startsWith('220') ? '421 not now' : '451 not now'
    return line
  }

  async function answerMail(socket: Socket, { to, text }: { to: string; text: string }) {
    const told = fateOf()
    if (temper.mood !== 'well') temper.felt++
    postbox.put({ channel: 'mail', to, id: messageId(text), text: plain(text), ...told })
    if (temper.mood === 'slow') await sleep(random.between(20, 400))
    if (told.line === undefined) socket.destroy()
    else if (told.line !== '') socket.write(`${told.line}\r\n`)
  }

  /** Of a mail that came to its end: whether it is kept, and what its sender is told of that. */
  function fateOf(): Pick<Handing, 'kept' | 'told'> & { line: string | undefined } {
    if (temper.mood === 'dropping') return { kept: random.chance(0.5), told: 'nothing', line: undefined }
    if (temper.mood === 'silent') return { kept: random.chance(0.5), told: 'nothing', line: '' }
    if (temper.mood === 'refusing') return { kept: false, told: 'no', line: '451 not now' }
    if (temper.mood !== 'lying') return { kept: true, told: 'yes', line: '250 taken' }
    return random.pick([
      { kept: true, told: 'no', line: '451 not now' },
      { kept: false, told: 'yes', line: '250 taken' },
      { kept: true, told: 'nothing', line: '999 ?' },
    ] as const)
  }

  // A sender who hangs up ends the conversation, and nothing else.
  const server = createServer((socket) => void converse(socket).catch(() => socket.destroy()))
  const doorway = await openDoorway(server, random)
  return {
    port: doorway.port,
    felt: () => temper.felt,
    sulk: (lot) => temper.sulk(doorway, lot),
    behave() {
      // Whoever was left without an answer is not kept waiting for it: the server has been started anew.
      if (temper.mood === 'silent') doorway.hangUp()
      temper.behave(doorway)
    },
    close: () => doorway.close(),
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

/** Which row of the outbox it was. */
function messageId(text: string): string {
  return /^message-id: <([^@>]+)@/im.exec(text)?.[1] ?? ''
}

/** Its content, as far as it takes to read a code and a link out of it. */
function plain(text: string): string {
  const content = text.slice(text.indexOf('\r\n\r\n'))
  return content.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
