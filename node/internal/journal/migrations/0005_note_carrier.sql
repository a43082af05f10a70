-- +goose Up

-- The hub that took a delegation on from ours; empty where its recipient is at ours.
ALTER TABLE task ADD COLUMN via_hub TEXT NOT NULL DEFAULT '';
