// Chooses which rows of a picture are shown, which stand on top, and in which order: by boxes, by
// dragging a row's name, or by its arrows. All of it is in the page's address.
import { element, replace } from "./dom";
import { RowSets } from "./selection";

export interface NamedRow {
  key: string;
  name: string;
}

// Returns the rows without the hidden ones, pinned ones first; rows that were moved keep their
// place.
export function arranged<Row extends NamedRow>(rows: Row[], sets: RowSets): Row[] {
  const hidden = sets.hide.get(), pinned = sets.pin.get();
  const shown = inOrder(rows, sets).filter(({ key }) => !hidden.includes(key));
  return [...shown.filter(({ key }) => pinned.includes(key)), ...shown.filter(({ key }) => !pinned.includes(key))];
}

function inOrder<Row extends NamedRow>(rows: Row[], { order: moved }: RowSets): Row[] {
  const order = moved.get();
  const known = order.flatMap((key) => rows.filter((row) => row.key === key));
  return known.length === 0 ? rows : [...known, ...rows.filter(({ key }) => !order.includes(key))];
}

export function rowChooser(words: string, rows: NamedRow[], sets: RowSets, redraw: () => void): HTMLElement {
  const list = element("ul", {});
  const toggle = (name: keyof RowSets, key: string, has: boolean) => {
    sets[name].set([...sets[name].get().filter((one) => one !== key), ...(has ? [key] : [])]);
    redraw();
  };
  const box = (name: keyof RowSets, key: string, label: string, isOn: boolean, means: boolean) => {
    const made = element("input", { type: "checkbox", change: () => toggle(name, key, made.checked === means) });
    made.checked = isOn;
    return element("label", {}, made, ` ${label}`);
  };
  // Moves a row to the place of another one.
  const move = (key: string, to: number) => {
    const keys = inOrder(rows, sets).map((row) => row.key).filter((one) => one !== key);
    keys.splice(Math.min(Math.max(to, 0), keys.length), 0, key);
    sets.order.set(keys.join() === rows.map((row) => row.key).join() ? [] : keys);
    show();
    redraw();
  };
  let dragged: string | undefined;
  const item = ({ key, name }: NamedRow, at: number) => {
    const mover = (by: number, sign: string, word: string) =>
        element("button", { type: "button", class: "move", "aria-label": `Move ${name} ${word}`, title: `Move ${word}`, click: () => {
          move(key, at + by);
          (list.children[Math.min(Math.max(at + by, 0), rows.length - 1)].querySelector(`[title="Move ${word}"]`) as HTMLElement).focus();
        } }, sign);
    return element("li", { draggable: "true",
                           dragstart: () => { dragged = key; },
                           dragover: (event: DragEvent) => event.preventDefault(),
                           drop: (event: DragEvent) => {
                             event.preventDefault();
                             event.stopPropagation();
                             if (dragged !== undefined && dragged !== key) move(dragged, at);
                             dragged = undefined;
                           } },
        box("hide", key, name, !sets.hide.get().includes(key), false),
        box("pin", key, "on top", sets.pin.get().includes(key), true),
        mover(-1, "\u2191", "up"), mover(1, "\u2193", "down"));
  };
  const show = () => replace(list, ...inOrder(rows, sets).map(item));
  show();
  return element("details", { class: "rows" }, element("summary", {}, words),
      element("p", {}, "Drag a row to another place, or use its arrows."), list);
}
