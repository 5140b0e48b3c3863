// A drawing (SVG) with its title, a table of the same figures, and buttons to save both.
import { element, save } from "./dom";
import { csv, DataTable, fileName, tableOf } from "./picture";

// `exact`: the figures that are saved, if the table has them rounded.
export function drawingFigure(title: string, drawing: SVGElement, data: DataTable, exact: DataTable = data): HTMLElement {
  return element("figure", { class: "picture" },
      element("figcaption", {}, element("span", {}, title), element("span", { class: "save" },
          element("button", { type: "button", title: `Save "${title}" as SVG`,
                              click: () => save(`${fileName(title)}.svg`, "image/svg+xml", svgText(drawing)) }, "SVG"),
          element("button", { type: "button", title: `Save the data of "${title}" as CSV`,
                              click: () => save(`${fileName(title)}.csv`, "text/csv", csv(exact)) }, "CSV"))),
      element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title }, drawing),
      element("details", {}, element("summary", {}, "as a table"), tableOf(data)));
}

const kStyles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];

// The text has the page's styles inside, so that the file looks the same elsewhere.
function svgText(drawing: SVGElement): string {
  const copy = drawing.cloneNode(true) as SVGElement;
  const from = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of kStyles)
      (node as SVGElement).style.setProperty(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}
