DROP INDEX results_sample;
DROP TABLE review_sittings;
DROP TABLE abstentions;
ALTER TABLE marks
    DROP COLUMN note,
    DROP COLUMN source;
