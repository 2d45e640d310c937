//! Renders results as json, raw, csv, tsv and jsonl through a lens.
