"""Pictures of graphs: each node and each arrow of Graphviz's text is in them, whatever its name."""
import collections
import json
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def export(trace, to, what):
    return subprocess.run([os.environ["SOJOURN"], "export", trace, "--to", to, "--what", what], check=True,
                          capture_output=True).stdout


def ascii_line(text):
    return "".join(c if " " <= c <= "~" else " " if c == "\n" else "?" * len(c.encode(errors="surrogateescape")) for c in text)


def graph_of(text):
    """The nodes and edges of Graphviz's text, as sojourn writes it."""
    word = r'"(?:[^"\\]|\\.)*"|[a-z]+\d+'
    plain = lambda quoted: ascii_line(re.sub(r"\\(.)", r"\1", quoted[1:-1]))
    labels, edges = {}, collections.Counter()
    for line in text.decode(errors="surrogateescape").split(";\n"):
        line = line.split("{\n")[-1] if "digraph" in line else line
        edge = re.fullmatch(r'\s*(%s) -> (%s) \[label=(%s)[^\]]*\]' % (word, word, word), line, re.S)
        node = re.fullmatch(r'\s*(%s)(?: \[shape=box, label=(%s)\]| \[shape=(point)\])?' % (word, word), line, re.S)
        if edge:
            edges[(labels[edge[1]], labels[edge[2]], plain(edge[3]))] += 1
        elif node:
            labels[node[1]] = "" if node[3] else plain(node[2] or node[1])
    return collections.Counter(labels.values()), edges


class Svg(unittest.TestCase):
    def compare(self, trace, what):
        nodes, edges = graph_of(export(trace, "dot", what))
        root = ElementTree.fromstring(export(trace, "svg", what))
        groups = [one for one in root if one.tag == SVG + "g"]
        self.assertEqual(collections.Counter(one.get("data-label") for one in groups if one.get("class") == "node"), nodes)
        self.assertEqual(collections.Counter((one.get("data-from"), one.get("data-to"), one.get("data-label"))
                                             for one in groups if one.get("class") == "edge"), edges)
        for one in groups:  # and people see what the attributes say
            shown = " ".join(text.text for text in one.iter(SVG + "text"))
            self.assertEqual(shown, one.get("data-label"))
        width, height = (float(root.get(key)) for key in ("width", "height"))
        for text in root.iter(SVG + "text"):
            self.assertTrue(0 < float(text.get("x")) < width and 0 < float(text.get("y")) < height)
        return nodes, edges

    def test_topology_of_places(self):
        nodes, edges = self.compare("radio.sjt", "topology")
        self.assertGreater(len(nodes), 5)
        self.assertGreater(sum(edges.values()), 10)

    def test_hostile_names_of_queues(self):
        self.assertGreater(sum(self.compare("hostile.sjt", "topology")[1].values()), 5)

    def test_flow(self):
        subprocess.run([os.environ["MAKE_TRACE"], "flow.sjt", "20000"], check=True, capture_output=True)
        nodes, edges = self.compare("flow.sjt", "flow")
        told = json.loads(subprocess.run([os.environ["SOJOURN"], "flow", "flow.sjt", "--json"], check=True,
                                         capture_output=True).stdout)["flow"]
        self.assertEqual(set(nodes), {d + " " + point for d, flow in told.items() for point in flow["points"]})
        self.assertEqual(sum(edges.values()), sum(len(flow["edges"]) for flow in told.values()))
        self.assertTrue(edges)


if __name__ == "__main__":
    unittest.main()
