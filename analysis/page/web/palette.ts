// All commands of the page, found by their words: Ctrl-Shift-P.
import { element, replace } from "./dom";

export interface Command {
  name: string;
  key?: string;
  run(): void;
}

export class Palette {
  readonly root: HTMLDialogElement;
  private input = element("input", { type: "text", id: "palette", role: "combobox", "aria-label": "Command", "aria-expanded": "true", "aria-controls": "palette-list", autocomplete: "off", placeholder: "what to do" });
  private list = element("ul", { id: "palette-list", role: "listbox", "aria-label": "Commands" });
  private found: Command[] = [];
  private at = 0;

  constructor(private commands: () => Command[]) {
    this.root = element("dialog", { class: "palette", "aria-label": "Commands" }, this.input, this.list);
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        this.at = (this.at + (event.key === "ArrowDown" ? 1 : this.found.length - 1)) % Math.max(1, this.found.length);
        this.show();
      } else if (event.key === "Enter") {
        this.run(this.found[this.at]);
      } else {
        return;
      }
      event.preventDefault();
    });
  }

  open(): void {
    if (this.root.open) return;
    this.input.value = "";
    this.find();
    this.root.showModal();
    this.input.focus();
  }

  private find(): void {
    const words = this.input.value.toLowerCase().split(" ").filter(Boolean);
    this.found = this.commands().filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    this.at = 0;
    this.show();
  }

  private show(): void {
    replace(this.list, ...this.found.map((command, i) => element("li", {
      role: "option", id: `palette-${i}`, "aria-selected": String(i === this.at), click: () => this.run(command),
    }, element("span", {}, command.name), element("kbd", {}, command.key ?? ""))));
    this.input.setAttribute("aria-activedescendant", this.found.length > 0 ? `palette-${this.at}` : "");
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  private run(command: Command | undefined): void {
    this.root.close();
    command?.run();
  }
}
