-- how a result came to be marked: random, near, least_sure, filter or import; null for marks from
-- before, and for those that somebody made on a result's page
ALTER TABLE marks ADD COLUMN source text;
ALTER TABLE marks ADD COLUMN note text;

-- questions of results that a person could not decide: no marks, since they have no outcome
CREATE TABLE abstentions (
    result_id blob NOT NULL REFERENCES results (id) ON DELETE CASCADE,
    question text NOT NULL,
    prism_id blob NOT NULL,
    -- the name of a person
    abstained_by text,
    abstained_at integer NOT NULL,
    note text,
    PRIMARY KEY (result_id, question)
) STRICT;

-- a person at work on a queue of results. Sittings that rest for long are deleted
CREATE TABLE review_sittings (
    id blob NOT NULL PRIMARY KEY,
    person_id blob NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    prism_id blob NOT NULL REFERENCES prisms (id),
    -- the queue, its results and what was judged, as JSON
    state text NOT NULL,
    used_at integer NOT NULL,
    -- the result that is on the person's screen, and until when others are shown that
    showing blob,
    shown_until integer
) STRICT;
CREATE INDEX review_sittings_prism_id_used_at ON review_sittings (prism_id, used_at);
CREATE INDEX review_sittings_person_id ON review_sittings (person_id);
CREATE INDEX review_sittings_used_at ON review_sittings (used_at);

-- a random sample of each prism's results in a random order: the last 32 bits of a UUIDv7 are random,
-- so their order has nothing to do with the time or the text. The index holds the first sixteenth of
-- that order, so that a create in sixteen pays for it
CREATE INDEX results_sample ON results (prism_id, substr(id, 13)) WHERE substr(id, 13) < x'10';
