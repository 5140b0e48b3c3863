// Values whose users are notified of changes. The views are drawn from them.

type Effect = () => void;
let running: Effect | undefined;

export interface Signal<T> {
  get(): T;
  set(value: T): void;
}

export function signal<T>(first: T): Signal<T> {
  let value = first;
  const users = new Set<Effect>();
  return {
    get() {
      if (running) users.add(running);
      return value;
    },
    set(next: T) {
      if (Object.is(next, value)) return;
      value = next;
      for (const user of [...users]) user();
    },
  };
}

// Runs a function at once, and again whenever a signal that it has read changes.
export function effect(run: Effect): void {
  const again = () => {
    const outer = running;
    running = again;
    try {
      run();
    } finally {
      running = outer;
    }
  };
  again();
}
