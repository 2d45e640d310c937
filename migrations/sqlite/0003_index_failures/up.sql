-- exports and retries of what failed, which is little among much
CREATE INDEX results_prism_id_id_failed ON results (prism_id, id) WHERE error IS NOT NULL;
