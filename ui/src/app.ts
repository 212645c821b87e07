// The data that every view gets, and the interface of a view.
import type { Profile } from "./data/profile";
import type { Palette } from "./data/palette";
import type { View } from "./data/view";
import type { Words } from "./data/words";
import type { GapsOfCause } from "./timeline/header";

/** Shared by the page of a run and the page of a comparison. */
export interface PageApp {
  view: { title: string; made_by: string };
  palette: Palette;
  words: Words;
}

export interface App extends PageApp {
  /** The content of profile.json; views show its `shown` first, everything else is as recorded. */
  profile: Profile;
  view: View;
  /** Idle gaps of the timeline by stage and cause; empty without a timeline. */
  gaps: GapsOfCause[];
}

export interface MountedView {
  element: HTMLElement;
  /** Called when the view is first in the page: it may scroll to what the address names. */
  arrive?: () => void;
  /** Called when the theme or the width changed: canvases must be redrawn at once. */
  redraw?: () => void;
  /** Called when the view is taken out of the page; it may come back. */
  leave?: () => void;
  /** Called when the view will not come back. */
  close?: () => void;
}

export interface ViewDescription<Shown extends PageApp = App> {
  id: string;
  title: string;
  mount: (app: Shown, options: URLSearchParams, printing: boolean) => MountedView;
}
