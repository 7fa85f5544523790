-- With which settings the notification server was closed: others open it again.
ALTER TABLE delivery ADD COLUMN settings text NOT NULL DEFAULT '';
