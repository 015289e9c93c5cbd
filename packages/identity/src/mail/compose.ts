import type { Clock } from '@tollgate/kit/clock'
import type { Log } from '@tollgate/kit/log'
import { createTemplateSource } from './custom-templates.ts'
import { type MailFacts, type MailKind, mailKinds, templateValues } from './kinds.ts'
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

type Setting = 'invite' | 'confirmation' | 'recovery' | 'magicLink' | 'emailChange'

type Parts = {
  siteUrl: string
  mailer: {
    otpLifetime: number
    subjects: Readonly<Record<Setting, string>>
    templates: Readonly<Record<Setting, string | undefined>>
  }
  now: Clock
  log: Pick<Log, 'warn'>
  fetch?: typeof fetch
}

/** Puts mails into words: the operator's where they can be had and used, our own otherwise. */
export function createCompose({ siteUrl, mailer, now, log, ...outside }: Parts): Compose {
  const warn = occasionalWarning(log, now)
  const templates = createTemplateSource({ siteUrl, now, warn, ...outside })

  function subjectOf(kind: MailKind, values: ReturnType<typeof templateValues>): string {
    const { settings, subject } = mailKinds[kind]
    const wanted = settings ? mailer.subjects[settings] : subject
    const rendered = renderSubject(wanted, values)
    if (rendered.problem)
      warn(`subject of ${kind}`, `The subject of ${kind} cannot be used, the usual one is: ${rendered.problem}`)
    return rendered.text || renderSubject(subject, values).text || subject
  }

  async function customHtml(kind: MailKind, values: ReturnType<typeof templateValues>): Promise<string | undefined> {
    const { settings } = mailKinds[kind]
    const location = settings && mailer.templates[settings]
    if (!location) return undefined
    const source = await templates.find(location)
    if (source === undefined) return undefined
    const rendered = renderHtml(source, values)
    if (rendered.problem) warn(location, `The template cannot be used, the built-in one is: ${rendered.problem}`)
    return rendered.text
  }

  return async (kind, facts) => {
    const values = templateValues(kind, facts, siteUrl)
    const subject = subjectOf(kind, values)
    const html = await customHtml(kind, values)
    if (html !== undefined) return { subject, html, text: undefined }
    return { subject, ...builtInMail(kind, facts, { siteUrl, lifetime: mailer.otpLifetime, subject }) }
  }
}
