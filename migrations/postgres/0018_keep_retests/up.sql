-- results that are asked about again, of another model or version, by the node that holds the lease
CREATE TABLE retests (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    prism_id uuid NOT NULL REFERENCES prisms (id),
    -- the version that is asked; null for the one that answered each text
    version integer,
    -- the name of the model that is asked
    model text NOT NULL,
    -- what was left out when the texts were drawn, as JSON
    drawn text NOT NULL,
    state text COLLATE "C" NOT NULL,
    -- why the retest failed; null otherwise
    reason text,
    -- flips when the last lease ended; null before
    flips bigint,
    -- among the retests of the account that are under way, from 0; null for one that ended
    slot integer,
    -- the person; null for none
    made_by uuid,
    made_at timestamptz NOT NULL,
    ended_at timestamptz,
    -- when the state changed, or the last lease ended
    changed_at timestamptz NOT NULL,
    -- the node at work and until when nobody else may be; null for none
    lease_holder uuid,
    lease_until timestamptz,
    -- grows with every lease, so that what an earlier holder writes is refused
    fence bigint NOT NULL
);
CREATE INDEX retests_prism_id_id ON retests (prism_id, id);
-- what waits for a node, the longest first
CREATE INDEX retests_state_changed_at ON retests (state, changed_at);
CREATE INDEX retests_ended_at ON retests (ended_at) WHERE ended_at IS NOT NULL;
-- one under way for each prism, and a bounded number for each account
CREATE UNIQUE INDEX retests_under_way ON retests (prism_id) WHERE slot IS NOT NULL;
CREATE UNIQUE INDEX retests_account_id_slot ON retests (account_id, slot) WHERE slot IS NOT NULL;

-- the drawn results of a retest with the new answers, without any text
CREATE TABLE retest_answers (
    retest_id uuid NOT NULL REFERENCES retests (id) ON DELETE CASCADE,
    result_id uuid NOT NULL REFERENCES results (id) ON DELETE CASCADE,
    -- as JSON; null until they are there
    answers text,
    -- why the model gave none; null otherwise
    failure text,
    PRIMARY KEY (retest_id, result_id)
);
CREATE INDEX retest_answers_result_id ON retest_answers (result_id);
