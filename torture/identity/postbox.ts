import { setTimeout as sleep } from 'node:timers/promises'

/** A message that reached a mail server or an SMS gateway as a whole. */
export type Handing = {
  channel: 'mail' | 'sms'
  to: string
  /** The row of the outbox; SMS do not carry it. */
  id: string | undefined
  text: string
  /** Whether whoever it was for gets it. */
  kept: boolean
  /** What the sender was told of it: `nothing` where nobody could make anything of it, or it never came. */
  told: 'yes' | 'no' | 'nothing'
}

/** All that mail server and gateway were handed, and what people find in their inbox of it. */
export type Postbox = {
  handings: readonly Handing[]
  put(handing: Handing): void
  /** How many messages somebody has got. */
  count(to: string): number
  /** The newest message of somebody who had so many before, as soon as there is one; undefined when it does not come. */
  next(to: string, had: number, patience: number): Promise<Letter | undefined>
}

export type Letter = { code: string; link: string | undefined }

export function createPostbox(): Postbox {
  const handings: Handing[] = []
  const inbox = (to: string) => handings.filter((each) => each.kept && each.to === to)
  return {
    handings,
    put: (handing) => void handings.push(handing),
    count: (to) => inbox(to).length,
    async next(to, had, patience) {
      for (const deadline = performance.now() + patience; performance.now() < deadline; await sleep(20)) {
        const found = inbox(to).slice(had).at(-1)
        if (found) return letterOf(found.text)
      }
      return undefined
    },
  }
}

/** What codes and links look like, whatever is written around them. */
export function letterOf(text: string): Letter {
  const link = /[?&]token=([0-9a-f]{56})/.exec(text)?.[1]
  // Digits of links, ids and colours are not by themselves.
  const code = /(?<![\w#&;=-])\d{6}(?![\w-])/.exec(text)?.[0] ?? ''
  return { code, link }
}
