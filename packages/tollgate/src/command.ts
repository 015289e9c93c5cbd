import type { Service } from '@tollgate/kit/service'

/** A word of the command line and what it does with the words after it. */
export type Command = { summary: string; usage?: string; run(words: readonly string[]): void | Promise<void> }

export type ServiceCommands = {
  service: Pick<Service, 'name' | 'title' | 'description' | 'settings'>
  commands: Readonly<Record<string, Command>>
}
