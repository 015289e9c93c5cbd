/** In the time of this machine, which is the reader's. */
export function moment(date: Date): string {
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-')
  return `${day} ${timeOfDay(date)}`
}

/** The day is worth telling only when it is another. */
export function momentToday(date: Date): string {
  return date.toDateString() === new Date().toDateString() ? timeOfDay(date) : moment(date)
}

function timeOfDay(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
