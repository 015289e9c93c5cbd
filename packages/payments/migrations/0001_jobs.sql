-- Work that a story has promised and a loop does: see kit/jobs.
create table pay.jobs (
  id bigint generated always as identity constraint jobs_pkey primary key,
  kind text not null,
  payload jsonb not null,
  run_at timestamptz not null,
  attempts integer not null default 0,
  error text,
  given_up_at timestamptz,
  created_at timestamptz not null
);

create index jobs_due_idx on pay.jobs (run_at, id) where given_up_at is null;
