// Notes on the page's views: each has the state of the page in which it was written, and leads back
// to it. They are in the page's address, so a link has them.
import { element, replace } from "./dom";
import { addNote, dropNote, goTo, notes } from "./selection";
import { effect } from "./signal";
import { plainName } from "./units";

export function notesPanel(): HTMLElement {
  const field = element("input", { type: "text", id: "note", "aria-label": "Note on what is shown now", autocomplete: "off", placeholder: "a note on what is shown now" });
  const list = element("ol", {});
  const summary = element("summary", {}, "notes");
  effect(() => {
    const all = notes.get();
    summary.textContent = all.length === 0 ? "notes" : `notes (${all.length})`;
    replace(list, ...all.map((note) => element("li", {},
        element("button", { type: "button", class: "packet", click: () => goTo(note) }, plainName(note.text)),
        element("button", { type: "button", "aria-label": `Remove the note ${plainName(note.text)}`, click: () => dropNote(note) }, "\u00d7"))));
  });
  return element("details", { class: "notes" }, summary, list,
      element("form", { submit: (event: Event) => {
        event.preventDefault();
        if (field.value.trim()) addNote(field.value.trim());
        field.value = "";
      } }, field, element("button", { type: "submit" }, "add")));
}
