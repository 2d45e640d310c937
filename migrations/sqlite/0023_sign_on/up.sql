-- who somebody is at the sign-in provider. People who have no password have '*' in its place, which
-- no password fits
CREATE TABLE provider_subjects (
    issuer text NOT NULL,
    subject text NOT NULL,
    person_id blob NOT NULL REFERENCES people (id),
    created_at integer NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;
CREATE INDEX provider_subjects_person_id ON provider_subjects (person_id);

-- sessions that the provider lets last
CREATE TABLE provider_sessions (
    hash blob NOT NULL PRIMARY KEY REFERENCES sessions (hash) ON DELETE CASCADE,
    issuer text NOT NULL,
    subject text NOT NULL,
    -- the provider's tokens, encrypted with a key that only the cookie gives
    sealed_grant blob NOT NULL,
    -- when the provider last let the person in
    checked_at integer NOT NULL,
    -- when it is asked again; null where it cannot be asked
    next_check_at integer,
    -- since when a node asks; null while none does
    asked_at integer
) STRICT;
