// What C++ words and colors for the page.

export interface Color {
  light: string;
  dark: string;
}

/** A figure that a reader sees first. */
export interface Headline {
  name: string;
  text: string;
  exact: number | null;
  unit: string;
  of: string;
  beside: { words: string; text: string; exact: number | null } | null;
}

export interface View {
  made_by: string;
  title: string;
  classes: { id: string; label: string; plain?: string; color: Color }[];
  parts: Record<string, { label: string; plain?: string; class: string | null; color?: Color; why?: string | null }>;
  headlines: Headline[];
  /** Names of profile.json that readers know by another one. */
  names: Record<string, string>;
  timeline_missing: string | null;
  /** Of a job: sentences on it, evidence of stragglers and groups in their order, names as readers know them. */
  job: { sentences: string[]; stragglers: string[]; groups: string[]; names: Record<string, string> } | null;
}
