import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtProgram } from './programs.ts'

const root = join(import.meta.dirname, '..')

/** The command itself, because the disk that it fills is one that it mounts for itself. */
async function torture(...words: string[]) {
  const program = await builtProgram()
  const all = [join(root, 'torture', 'main.ts'), '--program', program, '--workers', '2', ...words]
  return new Promise<{ code: number; told: string }>((resolve) => {
    execFile(process.execPath, all, { cwd: root }, (problem, out, complaints) =>
      resolve({ code: problem ? Number(problem.code ?? 1) : 0, told: `${out}${complaints}` }),
    )
  })
}

test('while the disk is full whoever writes is told so, and when there is room again everything that was acknowledged is there', async () => {
  const { code, told } = await torture('--service', 'payments', '--faults', 'disk', '--minutes', '0.03')
  expect(told).toMatch(/^torture: seed \d+$/m)
  expect({ code, told }).toEqual({ code: 0, told: expect.any(String) })
  if (/^skipped: disk: /m.test(told)) return
  expect(told).toMatch(/strikes {3}\d+ disk/)
  expect(told).toMatch(/[1-9]\d* refused for want of room/)
  expect(told).toContain('payments: nothing lost, nothing doubled.')
}, 200_000)
