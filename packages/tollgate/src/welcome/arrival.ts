/** Runs in the browser, where somebody comes back from a sign-in. Its own source is sent there, so it may use nothing from outside itself. */
export function showArrival(): void {
  type Session = { access_token: string; refresh_token: string; expires_at: number }
  type Told = { msg?: string; error_description?: string; message?: string }
  const page = document.getElementById('arrival')
  if (!page) return
  const identity = page.dataset.identity ?? ''
  const part = (name: string) => page.querySelector<HTMLElement>(`[data-arrival="${name}"]`) as HTMLElement
  const write = (name: string, text: string) => {
    part(name).textContent = text
  }
  const say = (title: string, sentence: string) => {
    write('title', title)
    write('sentence', sentence)
  }

  const fragment = new URLSearchParams(location.hash.slice(1))
  const query = new URLSearchParams(location.search)
  const brought = (name: string) => fragment.get(name) ?? query.get(name) ?? ''
  // Tokens do not belong into the history of a browser.
  history.replaceState(null, '', location.pathname)

  let session: Session = {
    access_token: brought('access_token'),
    refresh_token: brought('refresh_token'),
    expires_at: Number(brought('expires_at')),
  }

  /** An answer of the identity service, or a sentence about why there is none. */
  async function ask<T>(path: string, options: RequestInit): Promise<T | string> {
    const answer = await fetch(`${identity}${path}`, options).catch(() => undefined)
    if (!answer) return 'The identity service does not answer.'
    const told: (T & Told) | undefined = await answer.json().catch(() => undefined)
    if (answer.ok && told) return told
    return `The identity service answers ${answer.status}: ${told?.msg ?? told?.error_description ?? told?.message ?? 'without a reason'}`
  }

  function showSession(): void {
    write('token', `${session.access_token.slice(0, 24)}…`)
    part('copy').dataset.copy = session.access_token
    write('expiry', new Date(session.expires_at * 1000).toLocaleString())
  }

  type User = {
    id: string
    email?: string
    email_confirmed_at?: string
    app_metadata: { provider?: string }
    user_metadata: { full_name?: string; name?: string }
  }

  async function showUser(): Promise<void> {
    say('Coming back', 'Asking the identity service who you are …')
    const user = await ask<User>('/user', { headers: { authorization: `Bearer ${session.access_token}` } })
    if (typeof user === 'string') return say('You are not signed in', user)
    write('email', user.email ? `${user.email}${user.email_confirmed_at ? '' : ' (not confirmed)'}` : 'none')
    write('name', user.user_metadata.full_name ?? user.user_metadata.name ?? 'none told')
    write('id', user.id)
    write('provider', user.app_metadata.provider ?? 'unknown')
    showSession()
    part('session').hidden = false
    say('You are signed in', 'This is what your app would get.')
  }

  part('refresh').addEventListener('click', async () => {
    const fresh = await ask<Session>('/token?grant_type=refresh_token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: session.refresh_token }),
    })
    if (typeof fresh === 'string') return write('refreshed', fresh)
    session = fresh
    showSession()
    write('refreshed', `Refreshed at ${new Date().toLocaleTimeString()}.`)
  })

  const error = brought('error_description') || brought('error') || brought('error_code')
  if (error !== '') say('You are not signed in', `${error}${/[.!?]$/.test(error) ? '' : '.'}`)
  else if (session.access_token !== '') void showUser()
  else say('Nobody came back', 'This page is where a sign-in ends. It keeps nothing, so that opening it again shows nobody.')
}
