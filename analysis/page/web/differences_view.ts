// The traits of the packets in a box of the heat map, compared with the others. A row is a trait: a
// click adds it to the filter, if a filter can express it.
import { barCell, element, headRow, replace } from "./dom";
import { Cancelled } from "./engine_client";
import { Box, boxExpression } from "./heat_map";
import { Differences, Trait } from "./report_types";
import { commandLine, narrow } from "./selection";
import { count, plainName, share } from "./units";

// Below this p, chance alone seldom makes something as striking.
const kSurely = 0.05;

export function differencesPanel(box: Box, file: string, ask: (slow: string) => Promise<Differences>, close: () => void): HTMLElement {
  const expression = boxExpression(box);
  const body = element("div", { "aria-live": "polite" }, "looking at what they have in common ...");
  ask(expression).then((found) => replace(body, ...answer(found, box)),
                       (error) => error instanceof Cancelled || replace(body, element("p", { class: "failed" }, String(error.message ?? error))));
  return element("aside", { class: "differences", "aria-label": "What is different in the box" },
      element("div", { class: "head" }, element("h2", {}, "What is different in there"),
          element("button", { type: "button", id: "only-box", click: () => narrow(expression) }, "only these"),
          element("button", { type: "button", title: "Copy the command that prints the same", click: () =>
              void navigator.clipboard?.writeText(commandLine("why-slow", file, { "--slow": expression })) }, "copy command"),
          element("button", { type: "button", title: "Esc", click: close }, "close")),
      body);
}

function answer(found: Differences, box: Box): HTMLElement[] {
  const of = found[box.direction === 0 ? "D" : "U"];
  if (!of || of.slow === 0) return [element("p", {}, "No packet is in the box that was seen whole.")];
  const said = `${count(of.slow)} of ${count(of.packets)} ${box.direction === 0 ? "downlink" : "uplink"} packets are in the box.`;
  if (of.slow === of.packets) return [element("p", {}, `${said} There are no others to compare them with.`)];
  if (of.traits.length === 0) return [element("p", {}, `${said} Nothing that the trace says of packets distinguishes them.`)];
  return [
    element("p", {}, said, of.blocks < 8 && " They are too few blocks of time to tell chance from cause."),
    element("table", { class: "traits" }, headRow("they have", "#of the box", "", "#in the box", "#times", "#p"),
        element("tbody", {}, ...of.traits.map(row))),
  ];
}

function row(trait: Trait): HTMLElement {
  const mayBeChance = trait.p === null || trait.p > kSurely;
  const words = Object.entries(trait.what).map(([name, value]) => `${plainName(name)} ${plainName(value)}`).join(" and ");
  const alike = trait.alike > 0 ? ` (${trait.alike} alike)` : "";
  return element("tr", { class: mayBeChance ? "chance" : undefined, title: mayBeChance ? "Chance alone may make this" : undefined },
      element("th", { scope: "row" }, trait.where === null ? words
          : element("button", { type: "button", class: "packet", title: `Filter by ${trait.where}`, click: () => narrow(trait.where!) }, words), alike),
      element("td", { class: "number" }, share(trait.support)),
      barCell(trait.support),
      element("td", { class: "number", title: `${count(trait.slow)} of ${count(trait.packets)} packets that have it` }, share(trait.risk)),
      element("td", { class: "number" }, trait.risk_ratio === null ? "only these" : trait.risk_ratio.toFixed(1)),
      element("td", { class: "number" }, trait.p === null ? "?" : trait.p.toFixed(3)));
}
