// The current view and its selection, in the URL's fragment (#kernels?class=gemm&sort=-total), so that a copied
// address, a reload and the back button restore them.

export interface Place {
  view: string;
  options: URLSearchParams;
}

export type Options = Record<string, string | null | undefined>;

export function parsePlace(hash: string): Place {
  const text = hash.replace(/^#/, "");
  const cut = text.indexOf("?");
  return cut < 0
    ? { view: text, options: new URLSearchParams() }
    : { view: text.slice(0, cut), options: new URLSearchParams(text.slice(cut + 1)) };
}

function hashOf(view: string, options: URLSearchParams): string {
  const text = options.toString();
  return `#${view}${text ? `?${text}` : ""}`;
}

export function placeHash(view: string, options?: Options): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(options ?? {})) if (value) params.set(key, value);
  return hashOf(view, params);
}

/** Changes options of the current view without adding to the history; empty values are removed. */
export function setOptions(view: string, changes: Options): void {
  const place = parsePlace(location.hash);
  if (place.view !== view) return;
  for (const [key, value] of Object.entries(changes)) {
    if (value) place.options.set(key, value);
    else place.options.delete(key);
  }
  history.replaceState(history.state, "", hashOf(view, place.options));
}
