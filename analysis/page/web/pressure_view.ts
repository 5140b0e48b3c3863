// Back-pressure: the queue before a slow stage was deep, and queues further ahead became deep
// meanwhile.
import { element, headRow } from "./dom";
import { count, duration, plainName } from "./units";

// A queue that was deep, and the stage that drains it. The first one of a chain is before the slow
// stage.
export interface Episode {
  queue: string;
  stage: string;
  begin_ns: number;
  end_ns: number;
  peak: number;
}

export function pressureView(chains: Episode[][], origin: number): HTMLElement {
  return element("section", { class: "pressure" }, element("h2", {}, "Back-pressure"),
      chains.length === 0 ? element("p", {}, "No queue filled because a stage behind it was slow.")
          : element("p", {}, "The queue before a slow stage was deep, and those before it became so meanwhile."),
      chains.length > 0 && element("table", { class: "chains" },
          headRow("chain", "queue", "before the stage", "#up to", "#for", "#from"),
          ...chains.map((chain, number) => element("tbody", {}, ...chain.map((episode, at) => element("tr", {},
              element("th", { scope: "row" }, at === 0 ? `${number + 1}. ${plainName(episode.stage || "?")} was slow` : ""),
              element("td", {}, `${at > 0 ? "\u2190 " : ""}${plainName(episode.queue)}`),
              element("td", {}, plainName(episode.stage || "?")),
              element("td", { class: "number" }, count(episode.peak)),
              element("td", { class: "number" }, duration(episode.end_ns - episode.begin_ns)),
              element("td", { class: "number" }, duration(episode.begin_ns - origin))))))));
}
