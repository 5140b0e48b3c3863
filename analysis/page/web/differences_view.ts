// What is different about the selected packets: which UE, bearer, place, thread or cause they have
// more often than all others.
import { element, headRow } from "./dom";
import { Difference } from "./report_types";
import { narrow } from "./selection";
import { count, plainName, share } from "./units";

const kShown = 12;

export function differencesView(differences: Difference[]): HTMLElement {
  if (differences.length === 0)
    return element("section", { class: "different" }, element("h2", {}, "What is different about the selected"),
        element("p", {}, "Nothing that cannot be chance."));
  return element("section", { class: "different" }, element("h2", {}, "What is different about the selected"),
      element("table", { class: "bars" },
          headRow("what", "#selected that have it", "#all others that have it", "#times as often", "#p"),
          element("tbody", {}, ...differences.slice(0, kShown).map((one) => element("tr", {},
              element("th", { scope: "row" }, element("button", { type: "button", title: "Select only these", click: () => narrow(one.what) }, plainName(one.what))),
              element("td", { class: "number" }, `${count(one.inside)} (${share(one.share_inside)})`),
              element("td", { class: "number" }, `${count(one.outside)} (${share(one.share_outside)})`),
              element("td", { class: "number" }, Number.isFinite(one.ratio) ? one.ratio.toFixed(1) : "only these"),
              element("td", { class: "number" }, one.p_value < 1e-4 ? "< 0.0001" : one.p_value.toFixed(4)))))));
}
