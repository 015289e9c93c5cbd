import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Call, caller, type LogLine, scratchDatabase } from '@tollgate/kit/testing'
import { inject } from 'vitest'
import { startBalancer } from '../nodes/balancer.ts'
import { startPooler } from '../nodes/pooler.ts'
import { settingsOf } from '../packages/tollgate/src/testing.ts'

export type Node = { port: number; lines: readonly LogLine[]; call: Call; kill(): Promise<void> }

const root = join(import.meta.dirname, '..')

/** The real program as so many processes that start at once on an empty database behind a pooler, with a balancer before them. */
export async function startNodes(service: 'identity' | 'payments', count: number, env: Record<string, string>) {
  const database = await scratchDatabase()
  const pooler = await startPooler({ server: inject('postgres') })
  const url = `postgres://tollgate@127.0.0.1:${pooler.port}${new URL(database.directUrl).pathname}?sslmode=disable`
  const settings = { ...settingsOf({ url }, 0, 1), ...env }
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode(service, settings)))
  const balancer = await startBalancer(nodes.map(({ port }) => port))
  return {
    nodes,
    balancer,
    url,
    /** Over the balancer. */
    call: caller(balancer.origin),
    async stop() {
      await balancer.close()
      await Promise.all(nodes.map(({ kill }) => kill()))
      await pooler.close()
      await database.drop()
    },
  }
}

async function startNode(service: string, env: Record<string, string>): Promise<Node> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-node-'))
  const child = spawn(process.execPath, [join(root, 'packages', 'tollgate', 'src', 'main.ts'), service, 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: LogLine[] = []
  let complaints = ''
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const listening = Promise.withResolvers<number>()
  createInterface(child.stdout).on('line', (text) => {
    const line: LogLine = JSON.parse(text)
    lines.push(line)
    if (line.message === 'listening') listening.resolve(Number(line.port))
  })
  const ended = once(child, 'close').then(([code]) => {
    rmSync(folder, { recursive: true, force: true })
    listening.reject(new Error(`A node ended with ${code} instead: ${complaints}${JSON.stringify(lines)}`))
  })
  const port = await listening.promise
  return {
    port,
    lines,
    call: caller(`http://127.0.0.1:${port}`),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
