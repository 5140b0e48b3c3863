// Digits of the keyboard. The key's place says which digit it is: some keyboards have digits behind
// Shift.
export function digitOf({ code, key }: KeyboardEvent): number | undefined {
  const named = /^(?:Digit|Numpad)(\d)$/.exec(code) ?? /^(\d)$/.exec(key);
  return named ? Number(named[1]) : undefined;
}
