-- every lens that a prism had, so that any of them can be put back; one that was in force before this
-- table, or was saved by a node without it, is added when the next lens replaces it
CREATE TABLE lens_revisions (
    prism_id blob NOT NULL REFERENCES prisms (id),
    revision integer NOT NULL,
    -- the columns as in prisms.lens; null for the automatic lens
    lens text,
    -- the person; null for the terminal, and when the moment is null
    made_by blob,
    -- null for a lens that was added when another one replaced it
    made_at integer,
    -- why, in the words of the person
    note text,
    PRIMARY KEY (prism_id, revision)
) STRICT;
