// The element of each view, made of the engine's answers.
import { arrivalsView } from "./arrivals_view";
import { causesView } from "./causes_view";
import { compareView } from "./compare_view";
import { countsStays, distributionView, staysView } from "./distribution_view";
import { Answers, GroupDistributions, JourneyTable, PieceTable } from "./engine_client";
import { eventsView } from "./events_view";
import { flowView } from "./flow_view";
import { machineView, TraceHost } from "./machine_view";
import { firstName, secondName, shownName } from "./open_traces";
import { overview } from "./overview";
import { rememberSlowest } from "./packet_dialog";
import { PacketIds, packetsView } from "./packets_view";
import { Episode } from "./pressure_view";
import { profileView } from "./profile_view";
import { queuesView } from "./queues_view";
import { About, Difference, Differences, FirstScreen, Profile, QueuePlace } from "./report_types";
import { follow, options, View, where } from "./selection";
import { rememberEvents } from "./subject";
import { Summary } from "./summary";
import { TimelineView } from "./timeline_view";
import { secondTraceChooser } from "./trace_chooser";
import { Packet } from "./waterfall_bars";

// The engine, and the parts that all questions of a view have.
interface Asked {
  engine: Answers;
  about: About;
  asks: { where: string; trace: 0 | 1 };
}

const makers: Record<View, (asked: Asked) => Promise<HTMLElement>> = {
  async queues({ engine, asks, about }) {
    const { places, pressure } = await engine.ask<{ places: QueuePlace[]; pressure: Episode[][] }>("reading queues", { call: "queues", ...asks });
    return queuesView(places, pressure, about.open_ns);
  },
  async events({ engine, asks }) {
    const { events, more } = await engine.ask<any>("reading events", { call: "events", limit: 1000, ...asks });
    return eventsView(events, more);
  },
  machine: async ({ engine, asks: { trace } }) => machineView(await engine.ask<TraceHost>("reading the machine's profile", { call: "machine", trace })),
  profile: async ({ engine, asks }) => profileView(await engine.ask<Profile>("adding up samples", { call: "profile", ...asks })),
  compare: async ({ engine }) => (secondName.get() === undefined ? secondTraceChooser() : compared(engine)),
  timeline,
  arrivals: async ({ engine, asks }) => arrivalsView(await engine.ask<PieceTable>("gathering pieces", { call: "pieces", ...asks })),
  async distribution({ engine, asks }) {
    const by = options.by.get();
    return countsStays(by)
        ? staysView(await engine.ask<GroupDistributions>("gathering stays", { call: "groups", by, ...asks }))
        : distributionView(await engine.ask<JourneyTable>("gathering packets", { call: "journeys", by, ...asks }));
  },
  flow: async (asked) => flowView((await firstScreen(asked)).report),
  packets: async (asked) => packetsView(await firstScreen(asked), (ids) =>
      asked.engine.ask<PacketIds>("reading the packets' ids", { call: "ids", ids, trace: asked.asks.trace })),
  causes: async (asked) => causesView((await firstScreen(asked)).explanation),
  overview: firstView,
  live: firstView,  // the live figures are a server's, and need no question
};

export const makeView = (view: View, asked: Asked) => makers[view](asked);

async function firstScreen({ engine, about, asks }: Asked): Promise<FirstScreen> {
  const screen = await engine.ask<FirstScreen>("rebuilding packets", { call: "first screen", ...asks });
  rememberEvents(about, screen.report.events);
  rememberSlowest(screen.explanation.worst.map(({ id }) => id));
  return screen;
}

async function firstView({ engine, about, asks }: Asked): Promise<HTMLElement> {
  const screen = await firstScreen({ engine, about, asks });
  return overview(screen.report, screen.explanation, screen, {
    file: shownName(),
    differences: (slow) => engine.ask<Differences>("comparing packets", { call: "differences", slow, ...asks }),
  });
}

async function timeline({ engine, asks: { trace } }: Asked): Promise<HTMLElement> {
  const followed = follow.get();
  const packet = followed === undefined ? undefined : await engine.ask<Packet>("reading the packet", { call: "packet", id: followed, trace });
  const from = engine instanceof Summary ? await engine.around(trace, followed) : { engine, trace };
  const made = new TimelineView(from.engine, from.trace, packet, "bounds" in from ? from.bounds : undefined);
  await made.start();
  return made.root;
}

async function compared(engine: Answers): Promise<HTMLElement> {
  const filter = where.get();
  const screen = (trace: 0 | 1) => engine.ask<FirstScreen>("rebuilding packets", { call: "first screen", where: filter, trace });
  const screens: [FirstScreen, FirstScreen] = [await screen(0), await screen(1)];
  const difference = await engine.ask<Difference>("comparing the traces", { call: "compare", where: filter });
  return compareView({ names: [firstName.get()!, secondName.get()!], screens, difference });
}
