ALTER TABLE provider_sessions DROP COLUMN second_factor_at;
ALTER TABLE people DROP COLUMN by_link_since;
