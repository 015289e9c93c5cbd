import { html } from '@tollgate/kit/html'

export type InvitationFacts = {
  /** What the merchant calls itself, or where it is found. */
  merchant: string
  /** Who invited, in words. */
  inviter: string
  /** Where people sign in. */
  link: string
  /** The address that was invited, which is the one to sign in with. */
  email: string
}

/** The mail that tells somebody that they can see a merchant from now on. */
export function composeInvitation({ merchant, inviter, link, email }: InvitationFacts) {
  return {
    subject: `You have been invited to ${merchant}`,
    text: `${inviter} has invited you to ${merchant}.

As a member you can see the merchant's payments, capture and refund them, and invite others.

Sign in with this address, ${email}, to begin:
${link}

If you did not expect this, you need not do anything.
`,
    html: html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>You have been invited to ${merchant}</title></head>
<body style="margin:0;padding:24px;background:#f4f4f5;color:#18181b;font:16px/1.5 system-ui,sans-serif">
<main style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">You have been invited to ${merchant}</h1>
<p>${inviter} has invited you to <strong>${merchant}</strong>.</p>
<p>As a member you can see the merchant&rsquo;s payments, capture and refund them, and invite others.</p>
<p>Sign in with this address, ${email}, to begin:</p>
<p><a href="${link}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#18181b;color:#fff;text-decoration:none">Sign in</a></p>
<p style="color:#52525b;font-size:14px">If the button does not work, open ${link}</p>
<p style="color:#52525b;font-size:14px">If you did not expect this, you need not do anything.</p>
</main>
</body>
</html>
`.text,
  }
}

const longest = 100

/** What somebody chose as a name, as one short line: a stranger's own words have no room in a mail of ours. */
export function nameInMail(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const letters = [...line]
  return letters.length > longest ? `${letters.slice(0, longest).join('').trim()}…` : letters.join('')
}
