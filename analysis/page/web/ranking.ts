// The rows of one page of a table that is ordered by a figure. Sorting a million rows by a function
// holds up the browser, so that only the figures of the page's first and last row are found, and
// then the rows whose figures lie between these.

// The row with the least figure comes first; rows of one figure keep their order. No figure is NaN.
export function rankedPage(figures: Float64Array, from: number, size: number): number[] {
  const end = Math.min(from + size, figures.length);
  if (from >= end) return [];
  const room = figures.slice();
  const least = nth(room, from), most = nth(room, end - 1);
  const rows: number[] = [];
  let before = 0;
  for (let i = 0; i < figures.length; ++i) {
    if (figures[i] < least) ++before;
    else if (figures[i] <= most) rows.push(i);
  }
  rows.sort((a, b) => figures[a] - figures[b] || a - b);
  return rows.slice(from - before, end - before);
}

// Returns the figure that would stand at a place if all were sorted (Hoare's FIND). The figures are
// moved.
function nth(figures: Float64Array, place: number): number {
  let left = 0, right = figures.length - 1;
  while (left < right) {
    const pivot = figures[(left + right) >> 1];
    let i = left, j = right;
    while (i <= j) {
      while (figures[i] < pivot) ++i;
      while (figures[j] > pivot) --j;
      if (i > j) break;
      [figures[i], figures[j]] = [figures[j], figures[i]];
      ++i;
      --j;
    }
    if (place <= j) right = j;
    else if (place >= i) left = i;
    else break;
  }
  return figures[place];
}
