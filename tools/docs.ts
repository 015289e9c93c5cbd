import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { identity } from '@tollgate/identity/main'
import type { Setting } from '@tollgate/kit/env'
import { describeApi } from '@tollgate/kit/openapi'
import { describe, type Service } from '@tollgate/kit/service'
import { payments } from '@tollgate/payments/main'

const root = join(import.meta.dirname, '..')
const services: readonly Service[] = [identity, payments]
const notice = 'Printed by `npm run docs` from what runs; do not edit.'

/** Every generated document: its path and its text. */
const documents: Record<string, string> = {
  ...Object.fromEntries(
    services.map((service) => [
      `docs/${service.name}.openapi.json`,
      `${JSON.stringify(describeApi(describe(service)), null, 2)}\n`,
    ]),
  ),
  'docs/configuration.md': configuration(),
  'docs/errors.md': errors(),
  '.env.example': envExample(),
}

const stale = Object.entries(documents).filter(
  ([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text,
)
if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is stale: run npm run docs`)
  process.exit(stale.length > 0 ? 1 : 0)
}
for (const [path, text] of stale) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(`Wrote ${path}`)
}

function configuration(): string {
  return `# Configuration

${notice}

Settings are read from the environment and from a \`.env\` file in the folder a service is started in; the environment wins. An empty value
counts as not set. Flags take true or false. Durations are seconds, or written like \`1h30m\`; 0 is zero, not "the default". Lists are divided
by commas. A service that finds a setting wrong or missing says so about all of them at once and does not start; a name with the right prefix
that is no setting is warned about.

Traces and metrics also follow OpenTelemetry's own variables: \`OTEL_EXPORTER_OTLP_ENDPOINT\` (http://localhost:4318 when not set),
\`OTEL_EXPORTER_OTLP_HEADERS\`, \`OTEL_RESOURCE_ATTRIBUTES\`, \`OTEL_SERVICE_NAME\`.

${services.map(serviceSettings).join('\n')}`
}

function serviceSettings(service: Service): string {
  const { prefix, aliases = [] } = service.settings.family
  const spelling = aliases.length > 0 ? ` \`${aliases.join('_`, `')}_\` is accepted as an older spelling, with a warning.` : ''
  const groups = Map.groupBy(service.settings.declared, ({ group }) => group)
  return `## ${service.title}: \`${prefix}_\`

${spelling.trim()}

${[...groups].map(([title, settings]) => `### ${title}\n\n| Setting | Kind | Default | Meaning |\n|---|---|---|---|\n${settings.map(settingRow).join('\n')}\n`).join('\n')}`
}

function settingRow(setting: Setting): string {
  const others = setting.otherNames.length > 0 ? `<br>also ${setting.otherNames.map((name) => `\`${name}\``).join(', ')}` : ''
  const kind = setting.choices ? setting.choices.map((choice) => `\`${choice}\``).join(', ') : setting.kind
  const inWords = setting.fallbackInWords ? setting.fallback : `\`${setting.fallback}\``
  const fallback = setting.required ? '**required**' : setting.fallback === undefined ? '' : inWords
  const condition = setting.requiredWhen ? `. Required when ${setting.requiredWhen}` : ''
  return `| \`${setting.name}\`${others} | ${kind} | ${fallback} | ${setting.sentence.replaceAll('|', '\\|')}${condition} |`
}

function errors(): string {
  return `# Errors

${notice}

${services.map(serviceErrors).join('\n')}`
}

function serviceErrors(service: Service): string {
  const rows = Object.entries(service.failures)
    .sort(([, [one]], [, [other]]) => one - other)
    .map(([code, [status, message]]) => `| \`${code}\` | ${status} | ${message} |`)
  return `## ${service.title}

${service.failureNotes}

| Code | Status | Message |
|---|---|---|
${rows.join('\n')}
`
}

/** What has to be set stands ready to be filled in, all others are shown with their defaults, commented out. */
function envExample(): string {
  const lines = services.flatMap((service) => [
    `# ${service.title}`,
    ...[...Map.groupBy(service.settings.declared, ({ group }) => group)].flatMap(([group, settings]) => [
      '',
      `# ${group}`,
      ...settings.flatMap(exampleLines),
    ]),
    '',
  ])
  return `# ${notice.replaceAll('`', '')}\n# Copy to .env and fill in what is not commented out.\n\n${lines.join('\n')}`
}

function exampleLines(setting: Setting): string[] {
  const value = setting.neededFirst || setting.fallbackInWords ? '' : (setting.fallback ?? '')
  return [`# ${setting.sentence}.`, `${setting.neededFirst ? '' : '#'}${setting.name}=${value}`]
}
