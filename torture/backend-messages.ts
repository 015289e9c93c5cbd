/** What PostgreSQL says after the handshake: a letter, the length of the rest in four bytes, the rest. */
export type BackendMessage = { type: string; bytes: Buffer }

/** Cuts what a server sends into whole messages, however it arrives. What is not whole yet is kept for the next time. */
export function messageSplitter(): (chunk: Buffer) => BackendMessage[] {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const messages: BackendMessage[] = []
    while (rest.length >= 5) {
      const length = 1 + rest.readUInt32BE(1)
      if (rest.length < length) break
      messages.push({ type: String.fromCharCode(rest[0] as number), bytes: rest.subarray(0, length) })
      rest = rest.subarray(length)
    }
    return messages
  }
}

/** The first word of what a command was answered with, such as COMMIT or INSERT. Undefined for any other message. */
export function commandOf({ type, bytes }: BackendMessage): string | undefined {
  return type === 'C' ? /^\w+/.exec(bytes.toString('latin1', 5))?.[0] : undefined
}

/** Whether the server waits for the next command and has no transaction open: whatever came before is committed, or rolled back. */
export function isIdle({ type, bytes }: BackendMessage): boolean {
  return type === 'Z' && bytes[5] === 'I'.charCodeAt(0)
}
