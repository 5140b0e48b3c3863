// Figures that were computed from an answer, kept as long as the answer itself. A view is often
// drawn again from the same answer, as when a box is dragged over a heat map, and a pass over a
// million rows takes longer than all the drawing.

const kept = new WeakMap<object, Map<string, { key: string; value: unknown }>>();

// `name` says what is computed; of each name the value with the newest key is kept.
export function remembered<T>(answer: object, name: string, key: string, compute: () => T): T {
  let values = kept.get(answer);
  if (!values) kept.set(answer, values = new Map());
  const found = values.get(name);
  if (found?.key === key) return found.value as T;
  const value = compute();
  values.set(name, { key, value });
  return value;
}
