// Light or dark: as the reader's system has it, until a button changes it. Paper is light.

const isDark = () => document.documentElement.dataset.scheme === "dark";

function setScheme(dark: boolean): void {
  document.documentElement.dataset.scheme = dark ? "dark" : "light";
  document.dispatchEvent(new Event("scheme"));
}

export const changeScheme = () => setScheme(!isDark());

export function followSystemScheme(): void {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  setScheme(prefersDark.matches);
  prefersDark.addEventListener("change", () => setScheme(prefersDark.matches));
  let wasDark = false;
  window.addEventListener("beforeprint", () => {
    wasDark = isDark();
    setScheme(false);
  });
  window.addEventListener("afterprint", () => setScheme(wasDark));
}
