// What every view gets, and what a view is.
import type { Profile } from "./data/profile";
import type { Palette, View } from "./data/view";
import type { Words } from "./data/words";

/** What the page of a run and the page of a comparison have in common. */
export interface PageApp {
  view: { title: string; made_by: string };
  palette: Palette;
  words: Words;
}

export interface App extends PageApp {
  /** As recorded, exactly what profile.json holds. */
  recorded: Profile;
  /** The same with the times of the unwatched program where they are known: what reports show first. */
  shown: Profile;
  view: View;
}

export interface MountedView {
  element: HTMLElement;
  /** The fragment changed while the view was open. */
  onPlace?: (options: URLSearchParams) => void;
  /** The theme or the width changed: canvases must be drawn again, at once. */
  redraw?: () => void;
  /** The view was closed. */
  close?: () => void;
}

export interface ViewDescription<Shown extends PageApp = App> {
  id: string;
  title: string;
  mount: (app: Shown, options: URLSearchParams, printing: boolean) => MountedView;
}
