#!/usr/bin/env python3
"""Draws one downlink packet's way through the layers as SVG, to standard output.

The packet is the slowest one of a trace for which an expression is true (docs/filters.md):
    docs/pictures/packet.py SOJOURN TRACE [EXPRESSION]
All that is drawn is what `sojourn journeys --json` prints of it. Colours follow the reader's light
or dark theme.
"""
import json
import subprocess
import sys
from xml.sax.saxutils import escape

EXPRESSION = ("dir == D && segments == 3 && harq_retransmissions == 1 && latency < 16ms "
              "&& at(rlc.tx.am) > 2ms && at(phy.out) < 1ms && event(len == 1400)")

WIDTH = 960
LEFT = 168  # of the time axis
RIGHT = WIDTH - 148
TOP = 104
ROW = 38
LAST = 18  # more for what is written in the last row
BAR = 16
SHORTEST = 5  # pixels that a stay of nanoseconds still has

FONTS = 'ui-sans-serif, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif'
MONOSPACE = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace'
LIGHT = {"paper": "#ffffff", "ink": "#1f2328", "soft": "#59636e", "line": "#d1d9e0",
         "row": "#f6f8fa", "whole": "#57606a",
         "segments": ("#0969da", "#bc4c00", "#1a7f37", "#8250df")}
DARK = {"paper": "#0d1117", "ink": "#e6edf3", "soft": "#9198a1", "line": "#30363d",
        "row": "#151b23", "whole": "#6e7681",
        "segments": ("#1f6feb", "#db6d28", "#2ea043", "#8957e5")}


def colours(theme):
    """Written out for each class: not every program that shows SVG knows CSS variables."""
    rules = [f"text {{ fill: {theme['ink']}; }}",
             f".soft {{ fill: {theme['soft']}; }}",
             ".inside { fill: #ffffff; }",
             f".card {{ fill: {theme['paper']}; stroke: {theme['line']}; }}",
             f".grid {{ stroke: {theme['line']}; }}",
             f".row {{ fill: {theme['row']}; }}",
             f".label {{ stroke: {theme['paper']}; }}"]
    kinds = {"whole": theme["whole"]}
    kinds.update((f"s{number}", colour) for number, colour in enumerate(theme["segments"]))
    for kind, colour in kinds.items():
        rules.append(f".{kind} {{ fill: {colour}; }} .{kind}-line {{ stroke: {colour}; }}")
    return "\n  ".join(rules)


STYLE = f"""
  text {{ font: 13px {FONTS}; }}
  .place {{ font: 600 13px {MONOSPACE}; }}
  .title {{ font-size: 19px; font-weight: 600; }}
  .small {{ font-size: 12px; }}
  .inside {{ font-size: 12px; font-weight: 600; }}
  .long {{ font-weight: 600; }}
  .label {{ paint-order: stroke; stroke-width: 4px; stroke-linejoin: round; }}
  .way {{ stroke-width: 1.5; stroke-dasharray: 3 3; fill: none; }}
  {colours(LIGHT)}
  @media (prefers-color-scheme: dark) {{
  {colours(DARK)}
  }}
"""


def duration(ns):
    """With three digits, as sojourn prints it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            value = ns / size
            digits = 2 if value < 10 else 1 if value < 100 else 0
            return f"{value:.{digits}f} {unit}"
    return f"{ns:.0f} ns"


def journey_of(sojourn, trace, expression):
    command = [sojourn, "journeys", trace, "--where", expression, "--worst", "1", "--json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    if not lines:
        sys.exit(f"{trace}: no packet for which {expression}")
    return json.loads(lines.splitlines()[0])


class Packet:
    """A journey as stays: from the event that enters a place to the last one that leaves it."""

    def __init__(self, journey):
        self.journey = journey
        self.events = journey["events"]
        self.begin = journey["start_ns"]
        self.children = [[] for _ in self.events]
        for index, event in enumerate(self.events):
            for parent in event["parents"]:
                self.children[parent].append(index)
        self.places = []
        for event in self.events[:journey["end_event"] + 1]:
            if event["dest"] not in self.places:
                self.places.append(event["dest"])
        # The last place is outside, so it has no stays.
        self.output = self.places.pop()
        self.end = max(event["t_ns"] for event in self.events) - self.begin
        self.segment, self.begins_segment = self.number_segments()

    def number_segments(self):
        """Of each event the number of its segment, none before the packet was cut; and where each
        segment begins."""
        numbers = [None] * len(self.events)
        begins = []
        for index, event in enumerate(self.events):
            for parent in event["parents"]:
                numbers[index] = numbers[parent]
                siblings = [child for child in self.leaves(parent)
                            if self.events[child].get("repeat_of") is None]
                if numbers[index] is None and len(siblings) > 1 and index in siblings:
                    numbers[index] = len(begins)
                    begins.append(index)
        return numbers, begins

    def at(self, index):
        return self.events[index]["t_ns"] - self.begin

    def leaves(self, index):
        """The events by which the unit goes on from the place that this event enters."""
        return [child for child in self.children[index]
                if self.events[child]["dest"] in self.places + [self.output]]

    def stays(self, place):
        for index, event in enumerate(self.events):
            if event["dest"] == place and self.leaves(index):
                yield index, self.at(index), max(self.at(c) for c in self.leaves(index))

    def entering(self, ending):
        """The events that enter a place of such a name."""
        return [i for i, event in enumerate(self.events) if event["dest"].endswith(ending)]


class Picture:
    def __init__(self, packet):
        self.packet = packet
        self.rows = [packet.events[0]["src"]] + packet.places + [packet.output]
        self.parts = []

    def x(self, ns):
        return LEFT + (RIGHT - LEFT) * ns / (1.02 * self.packet.end)

    def y(self, place):
        return TOP + ROW * self.rows.index(place) + ROW / 2

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, words, kind="", anchor="start"):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
                 f"{escape(words)}</text>")

    def kind(self, index):
        number = self.packet.segment[index]
        return "whole" if number is None else f"s{number % 4}"

    def draw_grid(self):
        bottom = TOP + ROW * len(self.rows) + LAST
        for row, place in enumerate(self.rows):
            if row % 2 == 0:
                height = ROW + (LAST if row + 1 == len(self.rows) else 0)
                self.add(f'<rect class="row" x="1" y="{TOP + ROW * row}" width="{WIDTH - 2}" '
                         f'height="{height}"/>')
            self.text(LEFT - 16, TOP + ROW * row + ROW / 2 + 4.5, place, "place", "end")
        step = next(s for s in (1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 1e9)
                    if self.packet.end / s <= 12)
        tick = 0
        while tick <= self.packet.end:
            x = self.x(tick)
            self.add(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
            self.text(x, bottom + 18, f"{tick / 1e6:g}", "soft small", "middle")
            tick += step
        self.text(RIGHT + 16, bottom + 18, "ms since it came in", "soft small")

    def draw_ways(self):
        """From each place to the next, at the instant at which the unit changes over."""
        for index, event in enumerate(self.packet.events):
            if event["src"] in self.rows and event["dest"] in self.rows:
                x = self.x(self.packet.at(index))
                self.add(f'<line class="way {self.kind(index)}-line" x1="{x:.1f}" x2="{x:.1f}" '
                         f'y1="{self.y(event["src"]):.1f}" y2="{self.y(event["dest"]):.1f}"/>')

    def draw_stays(self):
        packet = self.packet
        for place in packet.places:
            y = self.y(place)
            longest = 0
            for index, begin, end in packet.stays(place):
                longest = max(longest, end - begin)
                left, width = self.x(begin), self.x(end) - self.x(begin)
                if width < SHORTEST:
                    left, width = left - SHORTEST / 2, SHORTEST
                self.add(f'<rect class="{self.kind(index)}" x="{left:.1f}" y="{y - BAR / 2:.1f}" '
                         f'width="{width:.1f}" height="{BAR}" rx="3"/>')
                count = len(packet.leaves(index))
                if count > 1 and packet.segment[index] is None:
                    self.text(left + 9, y + 4.3, f"waits here, and leaves in {count} segments",
                              "inside")
            self.text(RIGHT + 16, y + 4.5, duration(longest),
                      "long" if longest > packet.end / 20 else "soft")
        self.text(RIGHT + 16, TOP - 12, "longest stay", "soft small")

    def draw_repeats(self):
        """HARQ: the same transport block once more."""
        packet = self.packet
        for index, event in enumerate(packet.events):
            if event.get("repeat_of") is None:
                continue
            begin = self.x(packet.at(event["repeat_of"]))
            if self.x(packet.at(index)) - begin > 80:
                self.text(begin + 6, self.y(event["src"]) + 4.3, "HARQ repeat", "inside")
            else:
                self.text(begin, self.y(event["src"]) - BAR / 2 - 4, "HARQ repeat", "small label")

    def draw_outside(self):
        """What came in, what went out, and that the other side has it."""
        packet = self.packet
        self.dot(0, self.rows[0], self.size_of(0) if packet.journey["dir"] == "D" else "")
        seen = set()
        for index in packet.entering(packet.output):
            segment = packet.segment[index]
            words = "" if segment is None else self.size_of(packet.begins_segment[segment])
            if index == packet.journey["end_event"]:
                words = f"{words}: whole" if words else "whole"
            self.dot(index, packet.output, "again" if segment in seen else words, is_below=True)
            seen.add(segment)
        for index in packet.entering(".ack"):
            x, y = self.x(packet.at(index)), self.y(packet.events[index]["src"])
            self.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" class="whole-line" '
                     'stroke-width="2"/>')
            self.text(x - 10, y + 4.3, "RLC ACK", "small label", "end")

    def size_of(self, index):
        size = self.packet.events[index]["properties"].get("len")
        return "" if size is None else f"{size:,} bytes"

    def dot(self, index, place, words, is_below=False):
        x, y = self.x(self.packet.at(index)), self.y(place)
        self.add(f'<circle class="{self.kind(index)}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
        if is_below:
            self.text(x, y + 22, words, "small label", "middle")
        else:
            self.text(x + 11, y + 4.3, words, "small label")

    def draw(self):
        journey, packet = self.packet.journey, self.packet
        height = TOP + ROW * len(self.rows) + LAST + 44
        what = [word for word in (self.size_of(0) if journey["dir"] == "D" else "", f"{journey['segments']} segments"
                                  if journey["segments"] > 1 else "") if word]
        ids = " ".join(f"{name} {value:#x}" if "rnti" in name else f"{name} {value}"
                       for name, value in journey["ids"].items())
        self.add(f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" '
                 'rx="8"/>')
        self.text(24, 38, f"One packet, {' in '.join(what)}: {duration(journey['latency_ns'])} "
                  f"from {self.rows[0]} to {self.rows[-1]}", "title")
        self.text(24, 62, f"{ids}; {len(packet.events)} events; each bar is the time in one place",
                  "soft")
        self.draw_grid()
        self.draw_ways()
        self.draw_stays()
        self.draw_repeats()
        self.draw_outside()
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
                f'width="{WIDTH}" height="{height}" role="img">\n'
                f"<title>Where one packet spent its time</title>\n<style>{STYLE}</style>\n"
                f"{body}\n</svg>\n")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: packet.py SOJOURN TRACE [EXPRESSION]")
    expression = sys.argv[3] if len(sys.argv) == 4 else EXPRESSION
    journey = journey_of(sys.argv[1], sys.argv[2], expression)
    sys.stdout.write(Picture(Packet(journey)).draw())


if __name__ == "__main__":
    main()
