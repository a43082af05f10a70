-- +goose Up

-- Under which key state the sealed bytes were signed. The draft stays beside
-- them while they wait, so that they can be signed anew after a rotation.
ALTER TABLE outbox ADD COLUMN ksn INTEGER NOT NULL DEFAULT 0;
