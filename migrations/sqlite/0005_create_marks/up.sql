-- what people say the right outcomes of results are: one for each result and question
CREATE TABLE marks (
    result_id blob NOT NULL REFERENCES results (id) ON DELETE CASCADE,
    question text NOT NULL,
    -- the prism of the result, so that the marks of a prism are found without its results
    prism_id blob NOT NULL,
    outcome text NOT NULL,
    -- the name of a person; null when nobody was named
    marked_by text,
    marked_at integer NOT NULL,
    PRIMARY KEY (result_id, question)
) STRICT;
-- the marks of a prism in the order of its results
CREATE INDEX marks_prism_id_result_id_question ON marks (prism_id, result_id, question);
