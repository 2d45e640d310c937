/** What a result is rendered as: `json`, `csv`, `tsv` and `jsonl` through the lens, `raw` without. */
export type Format = "json" | "raw" | "csv" | "tsv" | "jsonl";

/** A lens file. It is passed as text: `JSON.stringify(lens)`. */
export interface Lens {
  /** 1 to 300 columns, in order. */
  columns: LensColumn[];
}

/** A column of a lens. */
export interface LensColumn {
  /** Absent for the question's key, with a suffix such as `_probability` for another output than its first. */
  name?: string;
  /** Key of a question of the latest version. */
  question: string;
  /** Choice: `top`, `probability` or `all`; yes / no: `label` or `probability`; scale: `level`, `number`, `average`, `probability` or `all`. */
  output: "top" | "label" | "level" | "number" | "average" | "probability" | "all";
  /** Of a `label`: below this probability of yes it is no. Above 0 and below 1; 0.5 if absent. */
  no_below?: number;
  /** Of a `label`: from this probability on it is yes, and from `no_below` up to it unsure. Above `no_below` and at most 1; if absent, it is yes from `no_below` on. */
  yes_from?: number;
}

/** The effect of a draft of a lens on the answered results. */
export interface Preview {
  /** Number of answered results. */
  results: number;
  /** Number of results with a changed cell in the columns that both lenses have. */
  changed_results: number;
  /** Number of cells in the columns that both lenses have. */
  cells: number;
  /** How many of these cells change. */
  changed: number;
  /** The columns of the draft, in order. */
  columns: ColumnPreview[];
  /** Names of the columns that the draft lacks. */
  dropped: string[];
}

/** The counts of one column of a draft. */
export interface ColumnPreview {
  name: string;
  question: string;
  output: string;
  /** Number of cells that change; null for a new column. */
  changed: number | null;
  /** The values with the draft. */
  after: Tally;
  /** The values now; null without such a column, and when the two cannot be compared. */
  before: Tally | null;
}

/** How often each value occurs in a column. */
export interface Tally {
  values: { value: string; label: string; cells: number }[];
  /** Number of empty cells. */
  empty: number;
}

/** The stored probabilities of a column, and the counts at each cutoff. */
export interface Cutoffs {
  column: string;
  question: string;
  /** Number of answered results that have the question. */
  results: number;
  no_below: number | null;
  yes_from: number | null;
  /** The labels that the column shows now; null for a column of probabilities. */
  now: { yes: number; unsure: number; no: number } | null;
  /** One for each cutoff from 0 to 100 percent: `results` lie in this percent, `no` below it, `yes` from it on. */
  steps: { percent: number; results: number; no: number; yes: number }[];
}

/** A fault of one value of a file, such as that at `questions.0.key`. */
export interface Problem {
  path: string;
  message: string;
}
