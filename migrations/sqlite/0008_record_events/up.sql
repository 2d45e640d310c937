-- what was changed in an account, by whom and when. A row holds names, numbers and ids, never a text
-- of a result, a context, a ref, a password, a key or an address
CREATE TABLE events (
    -- UUIDv7, by which events are ordered
    id blob NOT NULL PRIMARY KEY,
    account_id blob NOT NULL REFERENCES accounts (id),
    at integer NOT NULL,
    actor_kind text NOT NULL CHECK (actor_kind IN ('person', 'key', 'operator', 'node')),
    -- the person or the key; the nil id for operators and nodes
    actor_id blob NOT NULL,
    action text NOT NULL,
    target_kind text NOT NULL,
    target_id blob NOT NULL,
    -- what the target was and what it became
    changed_from text,
    changed_to text,
    note text,
    request_id text,
    CONSTRAINT events_actor CHECK (
        (actor_kind IN ('person', 'key')) = (actor_id <> x'00000000000000000000000000000000')
    )
) STRICT;
-- newest first: all of an account, of an actor, of an action, of a target
CREATE INDEX events_account_id_id ON events (account_id, id);
CREATE INDEX events_actor ON events (account_id, actor_kind, actor_id, id);
CREATE INDEX events_action ON events (account_id, action, id);
CREATE INDEX events_target ON events (account_id, target_kind, target_id, id);

-- events are added and nothing else
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are append-only: update is refused');
END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are append-only: delete is refused');
END;
-- REPLACE deletes without a trigger
CREATE TRIGGER events_no_replace BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'events are append-only: replace is refused');
END;

-- from then on the key is refused; null for a key without an end
ALTER TABLE api_keys ADD COLUMN expires_at integer;

-- the first event by somebody else that changed this person's role or password and that they have not
-- been told of
ALTER TABLE people ADD COLUMN untold_event blob;
