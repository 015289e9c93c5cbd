type Paid = { transaction: { id: string } }
type Paylike = (options: { key: string }) => { pay(payment: object, callback: (err: unknown, result?: Paid) => void): void }

/** Runs in the browser. Its own source is sent there, so it may use nothing from outside itself. */
export function sell(): void {
  const { Paylike } = window as { Paylike?: Paylike }
  const said = document.getElementById('said')
  const say = (sentence: string) => {
    if (said) said.textContent = sentence
  }
  if (!Paylike) {
    say('The payments service does not answer, so nothing can be bought now.')
    return
  }
  const shop = Paylike({ key: document.body.dataset.key ?? '' })
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-payment]')) {
    button.disabled = false
    button.addEventListener('click', () => {
      say('')
      shop.pay(JSON.parse(button.dataset.payment ?? ''), (err, result) => {
        if (err === 'closed') return say('You closed the popup, so nothing was bought.')
        if (err === 'superseded') return
        if (err) return say(String(err))
        // What a browser says can be made up: the server looks it up before it believes it.
        location.assign(`/shop/order?transactionId=${result?.transaction.id}`)
      })
    })
  }
}
