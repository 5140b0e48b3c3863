// Makes elements in one call. Texts are set as text, never as markup.

type Child = Node | string | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: any) => void) | undefined>;

export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children)
    if (child !== undefined && child !== false) made.append(child);
  return made;
}

// Returns the head of a table. A name that begins with # stands over figures, an empty name over
// bars.
export function headRow(...names: string[]): HTMLTableSectionElement {
  return element("thead", {}, element("tr", {}, ...names.map((name) =>
      name.startsWith("#") ? element("th", { scope: "col", class: "number" }, name.slice(1))
                           : element(name ? "th" : "td", name ? { scope: "col" } : {}, name))));
}

// Returns a cell with a bar that is as long as a part of the whole. A script sets its width, as the
// page's policy allows no style in markup.
export function barCell(part: number, kind = ""): HTMLTableCellElement {
  const bar = element("span");
  bar.style.width = `${(100 * Math.min(1, part)).toFixed(1)}%`;
  return element("td", { class: `bar ${kind}`.trim() }, bar);
}

const kSvg = "http://www.w3.org/2000/svg";

export function shape(tag: string, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElement {
  const made = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...(children.filter((child) => child !== undefined && child !== false) as Node[]));
}

export function save(name: string, type: string, content: BlobPart): void {
  const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
