-- tries to sign in are counted by address and network, or by address and known browser; both are null
-- in tries that a node of an older version made
ALTER TABLE sign_in_tries ADD COLUMN network text COLLATE "C";
ALTER TABLE sign_in_tries ADD COLUMN browser_hash bytea;
-- when the password turned out to be wrong; null while nobody knows
ALTER TABLE sign_in_tries ADD COLUMN refused_at timestamptz;
CREATE INDEX sign_in_tries_network_tried_at
    ON sign_in_tries (network, tried_at) WHERE network IS NOT NULL;
CREATE INDEX sign_in_tries_browser_hash_tried_at
    ON sign_in_tries (browser_hash, tried_at) WHERE browser_hash IS NOT NULL;

-- browsers in which somebody signed in before; only hashes of their cookies are kept. It is no
-- session: it gives the person's tries a count of their own
CREATE TABLE known_browsers (
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    signed_in_at timestamptz NOT NULL,
    PRIMARY KEY (hash, person_id)
);
CREATE INDEX known_browsers_person_id ON known_browsers (person_id);
CREATE INDEX known_browsers_signed_in_at ON known_browsers (signed_in_at);
