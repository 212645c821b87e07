// Where the reader is: the view and what is selected in it, in the URL's fragment (#kernels?class=gemm&sort=-total),
// so that a copied address, reload and the back button restore it.

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

/** Changes options of the current view without a step in the history; empty values are taken out. */
export function setOptions(view: string, changes: Options): void {
  const place = parsePlace(location.hash);
  if (place.view !== view) return;
  for (const [key, value] of Object.entries(changes)) {
    if (value) place.options.set(key, value);
    else place.options.delete(key);
  }
  history.replaceState(history.state, "", hashOf(view, place.options));
}
