import type { CpuProfile } from './cpu-profile.ts'

/** Begins to look where the time of a process goes. */
export async function startProfiling(address: string, sampleMicroseconds: number): Promise<{ stop(): Promise<CpuProfile> }> {
  const { say, close } = await openInspector(address)
  await say('Profiler.enable')
  await say('Profiler.setSamplingInterval', { interval: sampleMicroseconds })
  await say('Profiler.start')
  return {
    async stop() {
      const { profile } = (await say('Profiler.stop')) as { profile: CpuProfile }
      close()
      return profile
    },
  }
}

type Reply = { id?: number; result?: unknown; error?: { message: string } }

async function openInspector(address: string) {
  const socket = new WebSocket(address)
  const waiting = new Map<number, (reply: Reply) => void>()
  let count = 0
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the inspector cannot be reached'))
  })
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    waiting.get(reply.id ?? 0)?.(reply)
  }
  socket.onclose = () => {
    for (const answer of waiting.values()) answer({ error: { message: 'the process is gone' } })
  }
  return {
    close: () => socket.close(),
    async say(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
      count += 1
      const id = count
      const reply = await new Promise<Reply>((resolve) => {
        waiting.set(id, resolve)
        socket.send(JSON.stringify({ id, method, params }))
      })
      waiting.delete(id)
      if (reply.error) throw new Error(`${method}: ${reply.error.message}`)
      return reply.result
    },
  }
}
