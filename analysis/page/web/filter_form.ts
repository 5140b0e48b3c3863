// The line with the filter expression.
import { copyCommand } from "./command_line";
import { element } from "./dom";
import { where } from "./selection";
import { effect } from "./signal";

const field = element("input", { type: "text", id: "where", "aria-label": "Filter", spellcheck: "false", autocomplete: "off",
                                 placeholder: "all packets; e.g. rnti == 0x4601 && latency > 4ms" });

export const goToFilter = () => field.focus();
export const showAllPackets = () => where.set("");

export function filterForm(): HTMLElement {
  effect(() => {
    field.value = where.get();
  });
  return element("form", { class: "filter", submit: (event: Event) => {
    event.preventDefault();
    where.set(field.value);
  } }, field, element("button", { type: "submit" }, "filter"),
      element("button", { type: "button", title: "0", click: showAllPackets }, "all"),
      element("button", { type: "button", title: "Copy the command that prints the same", click: copyCommand }, "copy command"));
}
