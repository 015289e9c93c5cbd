import type { Doorway } from './doorway.ts'

/** How somebody outside is disposed today, and how often callers have felt it. */
export type Temper<Mood extends string> = {
  mood: Mood | 'well'
  felt: number
  /** A lot from 0 to 1 chooses the mood. Whoever is dead has shut the door. */
  sulk(doorway: Doorway, lot: number): void
  behave(doorway: Doorway): void
}

export function createTemper<Mood extends string>(moods: readonly [Mood, ...Mood[]]): Temper<Mood> {
  const temper: Temper<Mood> = {
    mood: 'well',
    felt: 0,
    sulk(doorway, lot) {
      doorway.open()
      temper.mood = moods[Math.floor(lot * moods.length)] ?? moods[0]
      if (temper.mood !== 'dead') return
      temper.felt++
      doorway.shut()
    },
    behave(doorway) {
      doorway.open()
      temper.mood = 'well'
    },
  }
  return temper
}
