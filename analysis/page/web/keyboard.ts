// The keys of the whole page. Pictures have keys of their own. These come here only where the picture
// is not focused, and are given to it.
import { palette } from "./commands";
import { digitOf } from "./digit_keys";
import { goToFilter, showAllPackets } from "./filter_form";
import { showHelp } from "./help";
import { followPacket, goToPacket, stepInPacket, turnPacket } from "./packet_dialog";
import { keyedPicture } from "./screen";
import { box, openPacket, view } from "./selection";
import { viewOfDigit, viewOfLetter } from "./view_names";

const takesText = (target: EventTarget | null) =>
    (target instanceof HTMLInputElement && target.type === "text") || target instanceof HTMLSelectElement;

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey && event.shiftKey && event.code === "KeyP") {
    event.preventDefault();
    palette.open();
    return;
  }
  if (palette.root.open || event.ctrlKey || event.altKey || event.metaKey) return;
  const isTyping = takesText(event.target);
  if (event.key === "Escape" && isTyping) return (event.target as HTMLElement).blur();
  if (event.key === "Escape" && openPacket.get() === undefined) box.set("");
  if (!isTyping && (isOfPicture(event) || act(event))) event.preventDefault();
}

// Gives a key to the picture that zooms, if the view has one. Returns whether it means something there.
function isOfPicture({ code, key, target }: KeyboardEvent): boolean {
  const picture = keyedPicture();
  if (!picture || target === picture || document.querySelector("dialog[open]")) return false;
  return !picture.dispatchEvent(new KeyboardEvent("keydown", { code, key, cancelable: true }));
}

// Returns whether the key means something.
function act(event: KeyboardEvent): boolean {
  const { code, key } = event;
  const packet = openPacket.get();
  const isOpen = packet !== undefined;
  const digit = digitOf(event);
  const named = digit === undefined ? viewOfLetter(code) : viewOfDigit(digit);
  if (key === "/" || (code === "Slash" && !event.shiftKey)) goToFilter();
  else if (key === "?" || code === "Slash") showHelp();
  else if (digit === 0) showAllPackets();
  else if (code === "Comma") goToPacket(-1);
  else if (code === "Period") goToPacket(1);
  else if (isOpen && (code === "BracketLeft" || code === "BracketRight")) stepInPacket(code === "BracketRight" ? 1 : -1);
  else if (code === "BracketLeft" || code === "BracketRight") goToPacket(1);
  else if (isOpen && code === "KeyT") turnPacket();
  else if (isOpen && code === "KeyF") followPacket(packet);
  else if (named) view.set(named);
  else return false;
  return true;
}

export const listenToKeys = () => document.addEventListener("keydown", onKey);
