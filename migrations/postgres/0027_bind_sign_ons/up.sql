-- since when somebody signs in by links that an operator makes, and has no password that anybody knows
ALTER TABLE people ADD COLUMN by_link_since timestamptz;
-- when the second factor of a session was given, at the provider or by a one-time code; null for none
ALTER TABLE provider_sessions ADD COLUMN second_factor_at timestamptz;
-- the owner of a demo: the one address to which `refract demo` makes links that sign in, and who was
-- never known in another way
UPDATE people SET by_link_since = created_at
WHERE email = 'owner@demo.invalid'
    AND name = 'Demo owner'
    AND removed_at IS NULL
    AND EXISTS (
        SELECT 1 FROM events
        WHERE events.target_id = people.id AND events.action = 'sign_in_link_made'
    )
    AND NOT EXISTS (
        SELECT 1 FROM events
        WHERE events.target_id = people.id
            AND events.action IN ('link_renewed', 'password_set', 'password_changed', 'provider_linked', 'codes_on')
    );
