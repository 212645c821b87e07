// What every view gets, and what a view is.
import type { Profile } from "./data/profile";
import type { Palette } from "./data/palette";
import type { View } from "./data/view";
import type { Words } from "./data/words";
import type { GapsOfCause } from "./timeline/header";

/** What the page of a run and the page of a comparison have in common. */
export interface PageApp {
  view: { title: string; made_by: string };
  palette: Palette;
  words: Words;
}

export interface App extends PageApp {
  /** What profile.json holds; `shown` in it is what views show first, all else is as recorded. */
  profile: Profile;
  view: View;
  /** Idle gaps of the timeline by stage and cause; empty without one. */
  gaps: GapsOfCause[];
}

export interface MountedView {
  element: HTMLElement;
  /** The view is in the page for the first time: it may scroll to what the address names. */
  arrive?: () => void;
  /** The theme or the width changed: canvases must be drawn again, at once. */
  redraw?: () => void;
  /** The view is taken out of the page, and may come back. */
  leave?: () => void;
  /** The view will not come back. */
  close?: () => void;
}

export interface ViewDescription<Shown extends PageApp = App> {
  id: string;
  title: string;
  mount: (app: Shown, options: URLSearchParams, printing: boolean) => MountedView;
}
