import { addJob, type Job } from '@tollgate/kit/jobs'
import { MailFailure } from '@tollgate/kit/smtp'
import type { App } from '../app.ts'
import { composeInvitation, nameInMail } from '../mail/invitation.ts'
import { findInvitation, type Invitation } from '../store/users.ts'

type Parts = Omit<App, 'nudge'>

/** What the job of an invitation holds. The mail is written when it is sent, so that no address stands here. */
export type InvitationJob = { id: string; merchantId: string; userId: string; inviterId: string; at: string }

/** The loop gives a job up after twelve attempts, in about an hour. A mail server may be away for longer. */
const quickAttempts = 10
const slowSeconds = 15 * 60

/** After this long an invitation is no news. */
const patience = 5 * 86_400

/**
 * Mails an invitation, at least once: a process that dies between the mail server's answer and the end of the job mails it again. A second
 * copy tells nothing new and carries the same Message-ID, by which mail programs show it once.
 */
export async function deliverInvitation(app: Parts, job: Job): Promise<void> {
  const { id, merchantId, userId, inviterId, at } = job.payload as InvitationJob
  const invited = new Date(at)
  const invitation = await findInvitation(app.db, { merchantId, userId, inviterId })
  // Whoever was revoked meanwhile has been invited to nothing.
  if (!invitation) return
  const giveUp = (error: string) => {
    app.log.error({ invitation: id, merchant: merchantId, error }, 'invitation given up')
    app.meters.invitation('refused')
  }
  if (app.now().getTime() - invited.getTime() > patience * 1000) return giveUp('it could not be sent in time')
  try {
    await app.smtp.send({ id: `invitation.${id}`, to: invitation.email, date: invited, ...letterOf(invitation, app.config.mail) })
    app.meters.invitation('delivered')
  } catch (problem) {
    if (!(problem instanceof MailFailure)) throw problem
    // A server that refuses a mail may quote it.
    const reason = problem.message.replaceAll(invitation.email, '[withheld]')
    if (problem.kind === 'permanent') return giveUp(reason)
    app.meters.invitation('postponed')
    return tryAgain(app, job, new Error(reason, { cause: problem.cause }))
  }
}

function letterOf(invitation: Invitation, { siteUrl }: { siteUrl: string }) {
  const { merchantName, merchantWebsite, inviterName, inviterEmail, email } = invitation
  const inviter = [inviterName, inviterName && inviterEmail ? `(${inviterEmail})` : inviterEmail].filter(Boolean).join(' ')
  return composeInvitation({
    merchant: nameInMail(merchantName ?? merchantWebsite.replace(/^https?:\/\//i, '')),
    inviter: nameInMail(inviter) || 'A member',
    link: siteUrl,
    email,
  })
}

/** Leaves it to the loop at first, which comes back soon and then later and later; from then on, at an even pace until it is too late. */
async function tryAgain({ db, log, now }: Parts, { kind, payload, attempts }: Job, problem: Error): Promise<void> {
  if (attempts < quickAttempts && !payload.slow) throw problem
  log.warn({ invitation: payload.id, error: problem }, 'invitation put off')
  const runAt = new Date(now().getTime() + slowSeconds * 1000 * (0.75 + Math.random() / 2))
  await addJob(db, { kind, payload: { ...payload, slow: true }, now: now(), runAt })
}
