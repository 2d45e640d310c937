-- how a result came to be marked: random, near, least_sure, filter or import; null for marks from
-- before, and for those that somebody made on a result's page. Neither column has a default or a
-- check: adding them only changes the catalogue
ALTER TABLE marks
    ADD COLUMN source text COLLATE "C",
    ADD COLUMN note text;

-- questions of results that a person could not decide: no marks, since they have no outcome
CREATE TABLE abstentions (
    result_id uuid NOT NULL REFERENCES results (id) ON DELETE CASCADE,
    question text COLLATE "C" NOT NULL,
    prism_id uuid NOT NULL,
    -- the name of a person
    abstained_by text,
    abstained_at timestamptz NOT NULL,
    note text,
    PRIMARY KEY (result_id, question)
);

-- a person at work on a queue of results. Sittings that rest for long are deleted
CREATE TABLE review_sittings (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    prism_id uuid NOT NULL REFERENCES prisms (id),
    -- the queue, its results and what was judged, as JSON
    state text NOT NULL,
    used_at timestamptz NOT NULL,
    -- the result that is on the person's screen, and until when others are shown that
    showing uuid,
    shown_until timestamptz
);
CREATE INDEX review_sittings_prism_id_used_at ON review_sittings (prism_id, used_at);
CREATE INDEX review_sittings_person_id ON review_sittings (person_id);
CREATE INDEX review_sittings_used_at ON review_sittings (used_at);

-- a random sample of each prism's results in a random order: the last 32 bits of a UUIDv7 are random,
-- so their order has nothing to do with the time or the text. The index holds the first sixteenth of
-- that order, so that a create in sixteen pays for it
CREATE INDEX results_sample ON results (prism_id, (substring(uuid_send(id) FROM 13)))
    WHERE substring(uuid_send(id) FROM 13) < '\x10'::bytea;
