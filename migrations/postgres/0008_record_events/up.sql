-- what was changed in an account, by whom and when. A row holds names, numbers and ids, never a text
-- of a result, a context, a ref, a password, a key or an address
CREATE TABLE events (
    -- UUIDv7, by which events are ordered
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    at timestamptz NOT NULL,
    actor_kind text COLLATE "C" NOT NULL CHECK (actor_kind IN ('person', 'key', 'operator', 'node')),
    -- the person or the key; the nil id for operators and nodes
    actor_id uuid NOT NULL,
    action text COLLATE "C" NOT NULL,
    target_kind text COLLATE "C" NOT NULL,
    target_id uuid NOT NULL,
    -- what the target was and what it became
    changed_from text,
    changed_to text,
    note text,
    request_id text,
    CONSTRAINT events_actor CHECK (
        (actor_kind IN ('person', 'key')) = (actor_id <> '00000000-0000-0000-0000-000000000000')
    )
);
-- newest first: all of an account, of an actor, of an action, of a target
CREATE INDEX events_account_id_id ON events (account_id, id);
CREATE INDEX events_actor ON events (account_id, actor_kind, actor_id, id);
CREATE INDEX events_action ON events (account_id, action, id);
CREATE INDEX events_target ON events (account_id, target_kind, target_id, id);

-- events are added and nothing else
CREATE FUNCTION refuse_change_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are append-only: % is refused', lower(TG_OP);
END
$$;
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_events();

-- from then on the key is refused; null for a key without an end
ALTER TABLE api_keys ADD COLUMN expires_at timestamptz;

-- the first event by somebody else that changed this person's role or password and that they have not
-- been told of
ALTER TABLE people ADD COLUMN untold_event uuid;
