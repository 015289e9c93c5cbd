type Standing = { count: number; latest?: { kind: string; id: string; subject: string; to: string[] } }
type Status = { services: { name: string; healthy: boolean; said: string }[] }

/** Runs in the browser. Its own source is sent there, so it may use nothing from outside itself. */
export function enliven(): void {
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
  const announce = (sentence: string) => {
    for (const region of all('#announcements')) region.textContent = sentence
  }

  // Without a clipboard the buttons would do nothing, so they stay hidden.
  if (navigator.clipboard) document.documentElement.classList.add('copies')
  document.addEventListener('click', async (event) => {
    const button = event.target instanceof Element && event.target.closest<HTMLButtonElement>('button[data-copy]')
    if (!button) return
    const copied = await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'Refused'
    announce(copied ? 'Copied' : 'The browser does not let this page copy')
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })

  async function refreshStatus(): Promise<void> {
    const status: Status | undefined = await fetch('/status.json').then(
      (answer) => answer.json(),
      () => undefined,
    )
    for (const element of all('[data-service]')) {
      const service = status?.services.find(({ name }) => name === element.dataset.service)
      const said = service?.said ?? 'Not answering'
      element.dataset.healthy = String(service?.healthy ?? false)
      // A live region speaks whenever it is written to, so it is written to only when there is news.
      if (element.textContent !== said) element.textContent = said
    }
  }
  if (all('[data-service]').length > 0) setInterval(() => document.hidden || refreshStatus(), 4000)

  let refreshes = 0
  async function refreshMessages(): Promise<void> {
    const turn = ++refreshes
    const text = await fetch('/inbox').then(
      (answer) => answer.text(),
      () => undefined,
    )
    // What was asked for earlier and comes later is out of date.
    if (text === undefined || turn !== refreshes) return
    const page = new DOMParser().parseFromString(text, 'text/html')
    const fresh = page.getElementById('messages')
    const shown = document.getElementById('messages')
    if (!fresh || !shown) return
    for (const row of fresh.querySelectorAll('li')) row.classList.toggle('arrived', !document.getElementById(row.id))
    const focused = document.activeElement?.id
    shown.replaceWith(document.adoptNode(fresh))
    if (focused) document.getElementById(focused)?.focus()
  }

  let waiting: ReturnType<typeof setTimeout> | undefined
  function showStanding({ count, latest }: Standing): void {
    for (const badge of all('[data-count]')) {
      badge.hidden = count === 0
      badge.textContent = String(count)
    }
    const shown = document.getElementById('messages')?.dataset.standing
    if (shown === undefined || shown === `${count} ${latest?.id ?? ''}`) return
    if (latest) announce(`New ${latest.kind === 'sms' ? 'SMS' : latest.kind} to ${latest.to.join(', ')}: ${latest.subject}`)
    // Messages that come together are shown together.
    clearTimeout(waiting)
    waiting = setTimeout(refreshMessages, 50)
  }

  let lost = false
  function listen(): void {
    const events = new EventSource('/inbox/events')
    events.addEventListener('inbox', (event) => showStanding(JSON.parse(event.data)))
    // A server that was started again may have other keys to show.
    events.addEventListener('open', () => lost && location.reload())
    events.addEventListener('error', () => {
      lost = true
      // Leaving the page is an error to some browsers as well; a moment later that is over.
      setTimeout(() => {
        for (const notice of all('#lost')) notice.hidden = false
      }, 1500)
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000)
    })
  }
  listen()
}
