-- the person who marked, where the app knows them; and 'adjudicator' for a mark that settles a
-- disagreement between people, else null. Old nodes write neither
ALTER TABLE marks ADD COLUMN person_id blob;
ALTER TABLE marks ADD COLUMN marked_as text;

-- the marks of other people beside the one that counts, which is in marks: for each result and
-- question at most one of each person, and one more of each adjudicator. There are none before two
-- people mark a result, and nodes that do not know the table read and write the mark that counts
CREATE TABLE other_marks (
    result_id blob NOT NULL REFERENCES results (id) ON DELETE CASCADE,
    question text NOT NULL,
    -- the person's id, or else the name, or nothing; after a space for an adjudicator
    marker text NOT NULL,
    prism_id blob NOT NULL,
    outcome text NOT NULL,
    marked_by text,
    marked_at integer NOT NULL,
    source text,
    note text,
    person_id blob,
    marked_as text,
    PRIMARY KEY (result_id, question, marker)
) STRICT;
-- the results of a prism that several people marked
CREATE INDEX other_marks_prism_id_result_id ON other_marks (prism_id, result_id);
