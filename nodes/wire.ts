/** The parts of PostgreSQL's protocol that somebody between a client and its server has to read and write. */

/** Numbers in the place of a protocol version, by which a client asks for something else than a session. */
export const asks = { session: 196_608, cancel: 80_877_102, tls: 80_877_103, gss: 80_877_104 }

/** What comes first on a connection has no letter: a length, a number, and what belongs to it. */
export type Opening = { code: number; rest: Buffer }

/** The opening, and what came behind it. Undefined when it is not whole yet. */
export function readOpening(bytes: Buffer): { opening: Opening; behind: Buffer } | undefined {
  if (bytes.length < 8) return undefined
  const length = bytes.readUInt32BE(0)
  if (bytes.length < length) return undefined
  return { opening: { code: bytes.readUInt32BE(4), rest: bytes.subarray(8, length) }, behind: bytes.subarray(length) }
}

export function writeOpening(code: number, rest: Buffer): Buffer {
  return Buffer.concat([number(rest.length + 8), number(code), rest])
}

/** Names and values in turn, up to an empty name. */
export function readParameters(rest: Buffer): Map<string, string> {
  const words = rest.toString('utf8').split('\0')
  const parameters = new Map<string, string>()
  for (let at = 0; words[at]; at += 2) parameters.set(words[at] as string, words[at + 1] ?? '')
  return parameters
}

export function writeParameters(parameters: Iterable<[string, string]>): Buffer {
  return Buffer.from(`${[...parameters].flat().join('\0')}\0\0`)
}

export function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  const length = body.reduce((sum, { length }) => sum + length, 4)
  return Buffer.concat([Buffer.from(type), number(length), ...body])
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value | 0)
  return bytes
}

/** A refusal that ends the session. */
export function fatal(code: string, text: string): Buffer {
  return message('E', `SFATAL\0VFATAL\0C${code}\0M${text}\0\0`)
}

/** The text up to the next zero, and where the rest begins. */
export function readText(bytes: Buffer, at: number): { text: string; next: number } {
  const end = bytes.indexOf(0, at)
  return { text: bytes.toString('utf8', at, end), next: end + 1 }
}
