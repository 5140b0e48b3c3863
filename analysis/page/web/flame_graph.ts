// Stacks of a profile as a flame graph: callers on top, the functions that they called below, each
// as wide as its time. A click on a function, or Enter, shows it and its callees as wide as the
// picture.
import { element } from "./dom";
import { picture } from "./picture";
import { Profile } from "./report_types";
import { count, duration, plainName, share } from "./units";

export interface FlameNode {
  name: string;
  module: string;
  kernel: boolean;
  ns: number;
  samples: number;
  self_ns: number;
  parent: FlameNode | undefined;
  children: FlameNode[];
}

const kRow = 18;
const kMostShapes = 4000;
const kColours = 4;  // p0 to p3; functions of the kernel have p4

const nodeOf = (name: string, module: string, kernel: boolean, parent?: FlameNode): FlameNode =>
    ({ name, module, kernel, ns: 0, samples: 0, self_ns: 0, parent, children: [] });

export const labelOf = (node: { name: string; kernel: boolean }) => `${plainName(node.name)}${node.kernel ? " [k]" : ""}`;

// Returns the tree of callers and callees. The widest child comes first.
export function flameTree({ names, stacks }: Profile, isWanted: (stack: Profile["stacks"][number]) => boolean): FlameNode {
  const root = nodeOf("all", "", false);
  const known = new Map<FlameNode, Map<number, FlameNode>>();
  const childOf = (parent: FlameNode, index: number) => {
    const children = known.get(parent) ?? new Map<number, FlameNode>();
    known.set(parent, children);
    let child = children.get(index);
    if (!child) {
      const about = names[index] ?? { function: "(no stack)", module: "", kernel: false };
      child = nodeOf(about.function, about.module, about.kernel, parent);
      children.set(index, child);
      parent.children.push(child);
    }
    return child;
  };
  for (const stack of stacks) {
    if (!isWanted(stack)) continue;
    let node = root;
    const add = () => {
      node.ns += stack.ns;
      node.samples += stack.samples;
    };
    add();
    for (const index of stack.functions.length === 0 ? [-1] : stack.functions) {
      node = childOf(node, index);
      add();
    }
    node.self_ns += stack.ns;
  }
  const sort = (node: FlameNode) => {
    node.children.sort((a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1));
    node.children.forEach(sort);
  };
  sort(root);
  return root;
}

const depthOf = (node: FlameNode): number => 1 + Math.max(0, ...node.children.map(depthOf));

interface Box {
  node: FlameNode;
  left: number;
  width: number;
  row: number;
}

// Returns the boxes of the shown function, its callers and callees. Callers are as wide as the
// picture. Functions narrower than `least` pixels are left out, with all their callees.
export function boxesOf(shown: FlameNode, width: number, least: number): Box[] {
  const boxes: Box[] = [];
  const callers: FlameNode[] = [];
  for (let node = shown.parent; node; node = node.parent) callers.unshift(node);
  callers.forEach((node, row) => boxes.push({ node, left: 0, width, row }));
  const add = (node: FlameNode, left: number, row: number) => {
    const wide = shown.ns === 0 ? 0 : (node.ns / shown.ns) * width;
    if (wide < least) return;
    boxes.push({ node, left, width: wide, row });
    let at = left;
    for (const child of node.children) {
      add(child, at, row + 1);
      at += (child.ns / shown.ns) * width;
    }
  };
  add(shown, 0, callers.length);
  return boxes.length <= kMostShapes ? boxes : boxesOf(shown, width, 2 * least);
}

const hash = (text: string) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);

function pathOf(node: FlameNode): string {
  const names = [];
  for (let at: FlameNode | undefined = node; at?.parent; at = at.parent) names.unshift(labelOf(at));
  return names.join(" > ");
}

export function flameGraph(root: FlameNode, title: string): HTMLElement {
  const height = depthOf(root) * kRow + 4;
  let shown = root, chosen = root;
  let boxes: Box[] = [];
  const told = element("p", { class: "told", "aria-live": "polite" });
  const words = (node: FlameNode) => `${labelOf(node)}: ${duration(node.ns)}, ${share(root.ns === 0 ? 0 : node.ns / root.ns)}; itself ` +
      `${duration(node.self_ns)}; ${count(node.samples)} samples${node.module ? `; in ${plainName(node.module)}` : ""}`;
  const made = picture({
    title,
    height,
    table: () => {
      const rows: (string | number)[][] = [];
      const add = (node: FlameNode) => {
        if (node.parent) rows.push([pathOf(node), duration(node.ns), duration(node.self_ns), node.samples]);
        node.children.forEach(add);
      };
      add(root);
      return { columns: ["stack", "total", "self", "samples"], rows };
    },
    paint({ context, width, colour }) {
      boxes = boxesOf(shown, width, 1);
      context.textBaseline = "middle";
      context.textAlign = "left";
      const callers = depthTo(shown);
      const letter = context.measureText("m").width * 0.8;
      for (const { node, left, width: wide, row } of boxes) {
        const top = row * kRow + 1;
        context.fillStyle = !node.parent ? colour("p5") : colour(node.kernel ? "p4" : `p${hash(node.name) % kColours}`);
        context.globalAlpha = row < callers ? 0.45 : 1;
        context.fillRect(left, top, Math.max(0.5, wide - 0.6), kRow - 1.5);
        context.globalAlpha = 1;
        if (wide > 30) {
          const text = labelOf(node), fits = Math.floor((wide - 8) / letter);
          context.fillStyle = row < callers ? colour("text") : colour("page");
          context.save();
          context.beginPath();
          context.rect(left, top, wide - 3, kRow);
          context.clip();
          context.fillText(text.length <= fits * 1.4 ? text : `${text.slice(0, Math.max(1, fits))}…`, left + 4, top + kRow / 2 - 1);
          context.restore();
        }
        if (node === chosen && node.parent) {
          context.strokeStyle = colour("text");
          context.lineWidth = 2;
          context.strokeRect(left + 1, top + 1, Math.max(1, wide - 2.6), kRow - 3.5);
        }
      }
    },
  });
  const choose = (node: FlameNode) => {
    chosen = node;
    told.textContent = words(node);
    made.draw();
  };
  const show = (node: FlameNode) => {
    shown = node;
    choose(node);
  };
  const at = (event: PointerEvent | MouseEvent) => boxes.find(({ left, width, row }) =>
      event.offsetX >= left && event.offsetX < left + width && Math.floor((event.offsetY - 1) / kRow) === row)?.node;
  made.canvas.addEventListener("pointermove", (event) => {
    const node = at(event);
    made.canvas.title = node ? words(node) : "";
    made.canvas.style.cursor = node ? "pointer" : "default";
    if (node && node !== chosen) choose(node);
  });
  made.canvas.addEventListener("click", (event) => {
    const node = at(event);
    if (node) show(node);
  });
  made.canvas.addEventListener("keydown", (event) => {
    const siblings = chosen.parent?.children ?? [chosen];
    const place = siblings.indexOf(chosen);
    if (event.key === "ArrowDown" && chosen.children.length > 0) choose(chosen.children[0]);
    else if (event.key === "ArrowUp" && chosen.parent) choose(chosen.parent);
    else if (event.key === "ArrowRight" && place + 1 < siblings.length) choose(siblings[place + 1]);
    else if (event.key === "ArrowLeft" && place > 0) choose(siblings[place - 1]);
    else if (event.key === "Enter") show(chosen);
    else if (event.key === "0") show(root);
    else return;
    // A function narrower than a pixel is not drawn, so its caller is shown wider.
    if (!boxesOf(shown, made.canvas.clientWidth, 1).some(({ node }) => node === chosen)) shown = chosen.parent ?? root;
    made.draw();
    event.preventDefault();
    event.stopPropagation();
  });
  told.textContent = words(root);
  return element("div", { class: "flame" }, made.root, told);
}

function depthTo(node: FlameNode): number {
  return node.parent ? 1 + depthTo(node.parent) : 0;
}
