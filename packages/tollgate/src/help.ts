import type { Setting } from '@tollgate/kit/env'
import type { Command, ServiceCommands } from './command.ts'

export function houseHelp(services: readonly ServiceCommands[], own: Readonly<Record<string, Command>>): string {
  return `Tollgate: identity and payments in one box.

Usage: tollgate <command>

${table([
  ...Object.entries(own).map(([name, { summary }]): [string, string] => [name, summary]),
  ...services.flatMap(({ service, commands }) =>
    Object.entries(commands).map(([name, { summary }]): [string, string] => [`${service.name} ${name}`, summary]),
  ),
  ['--version', 'Print the version'],
  ['--help', 'Print this; after a command: its own help with every setting'],
])}
`
}

export function serviceHelp({ service, commands }: ServiceCommands): string {
  const groups = Map.groupBy(service.settings.declared, ({ group }) => group)
  return `${service.title}: ${service.description}

Usage: tollgate ${service.name} <command>

${table(Object.entries(commands).map(([name, { usage, summary }]) => [usage ?? name, summary]))}

Settings are read from the environment and from a .env file in the current folder; the environment wins.
Durations are seconds, or written like 1h30m.
${[...groups].map(([title, settings]) => `\n${title}\n${settings.map(settingHelp).join('\n')}`).join('\n')}
`
}

function settingHelp(setting: Setting): string {
  const others = setting.otherNames.length > 0 ? ` (also ${setting.otherNames.join(', ')})` : ''
  const fallback = setting.fallback === undefined ? '' : `default ${setting.fallback}`
  const required = setting.required ? 'required' : setting.requiredWhen ? `required when ${setting.requiredWhen}` : ''
  const kind = setting.choices ? setting.choices.join(' | ') : setting.kind
  return `  ${setting.name}${others}\n      ${setting.sentence}. [${[kind, setting.required ? '' : fallback, required].filter((part) => part !== '').join(', ')}]`
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 3
  return rows.map(([name, text]) => `  ${name.padEnd(width)}${text}`).join('\n')
}
