/** What the simulator's bank says. */
type ChallengeWords = {
  bank: string
  simulation: string
  heading: string
  merchant: string
  amount: string
  card: string
  confirm: string
  refuse: string
  confirmed: string
  refused: string
  note: string
}

const en: ChallengeWords = {
  bank: 'Test bank',
  simulation: 'Simulation',
  heading: 'Is it you paying?',
  merchant: 'Shop',
  amount: 'Amount',
  card: 'Card',
  confirm: 'Confirm',
  refuse: 'Refuse',
  confirmed: 'Confirmed. Back to the shop …',
  refused: 'Refused. Back to the shop …',
  note: 'No real bank and no money: choose what a customer would do.',
}

const languages: ReadonlyMap<string, ChallengeWords> = new Map<string, ChallengeWords>([
  ['en', en],
  [
    'da',
    {
      bank: 'Testbank',
      simulation: 'Simulering',
      heading: 'Er det dig, der betaler?',
      merchant: 'Butik',
      amount: 'Beløb',
      card: 'Kort',
      confirm: 'Godkend',
      refuse: 'Afvis',
      confirmed: 'Godkendt. Tilbage til butikken …',
      refused: 'Afvist. Tilbage til butikken …',
      note: 'Ingen rigtig bank og ingen penge: vælg, hvad en kunde ville gøre.',
    },
  ],
  [
    'de',
    {
      bank: 'Testbank',
      simulation: 'Simulation',
      heading: 'Bezahlen Sie gerade?',
      merchant: 'Shop',
      amount: 'Betrag',
      card: 'Karte',
      confirm: 'Bestätigen',
      refuse: 'Ablehnen',
      confirmed: 'Bestätigt. Zurück zum Shop …',
      refused: 'Abgelehnt. Zurück zum Shop …',
      note: 'Keine echte Bank und kein Geld: Wählen Sie, was ein Kunde täte.',
    },
  ],
  [
    'es',
    {
      bank: 'Banco de prueba',
      simulation: 'Simulación',
      heading: '¿Es usted quien paga?',
      merchant: 'Tienda',
      amount: 'Importe',
      card: 'Tarjeta',
      confirm: 'Confirmar',
      refuse: 'Rechazar',
      confirmed: 'Confirmado. Volviendo a la tienda …',
      refused: 'Rechazado. Volviendo a la tienda …',
      note: 'Sin banco real ni dinero: elija lo que haría un cliente.',
    },
  ],
  [
    'fi',
    {
      bank: 'Testipankki',
      simulation: 'Simulaatio',
      heading: 'Oletko sinä maksamassa?',
      merchant: 'Kauppa',
      amount: 'Summa',
      card: 'Kortti',
      confirm: 'Vahvista',
      refuse: 'Hylkää',
      confirmed: 'Vahvistettu. Takaisin kauppaan …',
      refused: 'Hylätty. Takaisin kauppaan …',
      note: 'Ei oikeaa pankkia eikä rahaa: valitse, mitä asiakas tekisi.',
    },
  ],
  [
    'fr',
    {
      bank: 'Banque de test',
      simulation: 'Simulation',
      heading: 'Est-ce bien vous qui payez ?',
      merchant: 'Boutique',
      amount: 'Montant',
      card: 'Carte',
      confirm: 'Confirmer',
      refuse: 'Refuser',
      confirmed: 'Confirmé. Retour à la boutique …',
      refused: 'Refusé. Retour à la boutique …',
      note: 'Ni vraie banque ni argent : choisissez ce que ferait un client.',
    },
  ],
  [
    'it',
    {
      bank: 'Banca di prova',
      simulation: 'Simulazione',
      heading: 'È lei che sta pagando?',
      merchant: 'Negozio',
      amount: 'Importo',
      card: 'Carta',
      confirm: 'Conferma',
      refuse: 'Rifiuta',
      confirmed: 'Confermato. Ritorno al negozio …',
      refused: 'Rifiutato. Ritorno al negozio …',
      note: 'Nessuna vera banca, nessun denaro: scelga che cosa farebbe un cliente.',
    },
  ],
  [
    'nb',
    {
      bank: 'Testbank',
      simulation: 'Simulering',
      heading: 'Er det du som betaler?',
      merchant: 'Butikk',
      amount: 'Beløp',
      card: 'Kort',
      confirm: 'Godkjenn',
      refuse: 'Avvis',
      confirmed: 'Godkjent. Tilbake til butikken …',
      refused: 'Avvist. Tilbake til butikken …',
      note: 'Ingen ekte bank og ingen penger: velg hva en kunde ville gjort.',
    },
  ],
  [
    'nl',
    {
      bank: 'Testbank',
      simulation: 'Simulatie',
      heading: 'Bent u het die betaalt?',
      merchant: 'Winkel',
      amount: 'Bedrag',
      card: 'Kaart',
      confirm: 'Bevestigen',
      refuse: 'Weigeren',
      confirmed: 'Bevestigd. Terug naar de winkel …',
      refused: 'Geweigerd. Terug naar de winkel …',
      note: 'Geen echte bank en geen geld: kies wat een klant zou doen.',
    },
  ],
  [
    'pl',
    {
      bank: 'Bank testowy',
      simulation: 'Symulacja',
      heading: 'Czy to Ty płacisz?',
      merchant: 'Sklep',
      amount: 'Kwota',
      card: 'Karta',
      confirm: 'Potwierdź',
      refuse: 'Odrzuć',
      confirmed: 'Potwierdzono. Powrót do sklepu …',
      refused: 'Odrzucono. Powrót do sklepu …',
      note: 'To nie jest prawdziwy bank ani prawdziwe pieniądze: wybierz, co zrobiłby klient.',
    },
  ],
  [
    'sv',
    {
      bank: 'Testbank',
      simulation: 'Simulering',
      heading: 'Är det du som betalar?',
      merchant: 'Butik',
      amount: 'Belopp',
      card: 'Kort',
      confirm: 'Godkänn',
      refuse: 'Avvisa',
      confirmed: 'Godkänt. Tillbaka till butiken …',
      refused: 'Avvisat. Tillbaka till butiken …',
      note: 'Ingen riktig bank och inga pengar: välj vad en kund skulle göra.',
    },
  ],
])

/** Norwegian goes by more than one name. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['no', 'nb'],
  ['nn', 'nb'],
])

/** The first of the languages that are asked for and spoken here, and else English. */
export function challengeWords(asked: string): [language: string, words: ChallengeWords] {
  for (const each of asked.split(',')) {
    const name = /^\s*([a-z]{2,3})\b/i.exec(each)?.[1]?.toLowerCase() ?? ''
    const language = otherNames.get(name) ?? name
    const words = languages.get(language)
    if (words) return [language, words]
  }
  return ['en', en]
}
