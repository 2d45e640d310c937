-- what a person typed and has not saved, one draft of each kind for each prism
CREATE TABLE drafts (
    person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    -- the nil id for a prism that does not exist yet
    prism_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('version', 'lens')),
    -- counts the changes of this row; a change names the revision that it replaces
    revision integer NOT NULL CHECK (revision >= 1),
    -- null once the draft was saved or discarded, so that a late request does not bring it back
    content text,
    saved_at timestamptz NOT NULL,
    PRIMARY KEY (person_id, prism_id, kind)
);
