import type { Clock } from '@tollgate/kit/clock'
import type { Fetch } from '@tollgate/kit/fetch'
import type { Log } from '@tollgate/kit/log'
import { createTemplateSource, type TemplateCache } from './custom-templates.ts'
import { type MailFacts, type MailKind, mailKinds, type TemplateValues, templateValues } from './kinds.ts'
import { createLocalizedTemplates } from './localized-templates.ts'
import { occasionalWarning } from './occasional-warning.ts'
import { renderHtml, renderSubject } from './render.ts'
import { builtInMail } from './templates/built-in.ts'

export type ComposedMail = {
  subject: string
  html: string
  /** Only built-in templates have one: what an operator's own template says cannot be told from its HTML. */
  text: string | undefined
}

export type Compose = (kind: MailKind, facts: MailFacts) => Promise<ComposedMail>

type Parts = {
  siteUrl: string
  mailer: {
    otpLifetime: number
    subjects: Readonly<Record<MailKind, string>>
    templates: Readonly<Record<MailKind, string | undefined>>
    templateCache: TemplateCache
  }
  now: Clock
  log: Pick<Log, 'warn'>
  fetch: Fetch
}

/** Puts mails into words: the operator's where they can be had and used, our own otherwise. */
export function createCompose({ siteUrl, mailer, now, log, fetch }: Parts): Compose {
  const warn = occasionalWarning(log, now)
  const source = createTemplateSource({ siteUrl, cache: mailer.templateCache, now, fetch, warn })
  const templates = createLocalizedTemplates(source, now)

  function subjectOf(kind: MailKind, values: TemplateValues): string {
    const { subject } = mailKinds[kind]
    const rendered = renderSubject(mailer.subjects[kind], values)
    if (rendered.problem)
      warn(`subject of ${kind}`, `The subject of ${kind} cannot be used, the usual one is: ${rendered.problem}`)
    return rendered.text || renderSubject(subject, values).text || subject
  }

  async function customHtml(kind: MailKind, values: TemplateValues, locale?: string): Promise<string | undefined> {
    const location = mailer.templates[kind]
    if (!location) return undefined
    const template = await templates.find(location, locale)
    if (template === undefined) return undefined
    const rendered = renderHtml(template, values)
    if (rendered.problem) warn(location, `The template cannot be used, the built-in one is: ${rendered.problem}`)
    return rendered.text
  }

  return async (kind, facts) => {
    const values = templateValues(kind, facts, siteUrl)
    const subject = subjectOf(kind, values)
    const html = await customHtml(kind, values, facts.locale)
    if (html !== undefined) return { subject, html, text: undefined }
    return { subject, ...builtInMail(kind, facts, { siteUrl, lifetime: mailer.otpLifetime, subject }) }
  }
}
