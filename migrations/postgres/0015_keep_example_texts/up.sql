-- texts of a prism whose right outcomes are known, at most a hundred for each prism
CREATE TABLE prism_examples (
    id uuid PRIMARY KEY,
    prism_id uuid NOT NULL REFERENCES prisms (id),
    -- of the values and the context: a text is an example once
    text_hash bytea NOT NULL,
    -- values by field, as JSON
    fields text NOT NULL,
    context text,
    reference text COLLATE "C",
    -- outcomes by question, as JSON; a question without one is not checked
    expected text NOT NULL,
    note text,
    -- the result from which the text was copied: erasing it deletes the example, a purge does not
    result_id uuid REFERENCES results (id) ON DELETE SET NULL,
    -- the person who saved the outcomes last
    changed_by uuid,
    changed_at timestamptz NOT NULL,
    UNIQUE (prism_id, text_hash)
);
CREATE INDEX prism_examples_result_id ON prism_examples (result_id);

-- what some wording of the prism, saved or not, answered about an example last
CREATE TABLE example_checks (
    example_id uuid NOT NULL REFERENCES prism_examples (id) ON DELETE CASCADE,
    -- a hash of the version
    wording_hash bytea NOT NULL,
    checked_at timestamptz NOT NULL,
    -- null if there was no answer
    answers text,
    -- why there was no answer
    error text,
    PRIMARY KEY (example_id, wording_hash),
    CHECK ((answers IS NULL) <> (error IS NULL))
);
