-- For those who know an id and not whose it is. In this order the indexes cannot be taken for pages of what one merchant has, among all that
-- the others have.
drop index pay.transactions_id_idx;
create index transactions_id_idx on pay.transactions (id text_pattern_ops);

drop index pay.cards_id_idx;
create index cards_id_idx on pay.cards (id text_pattern_ops);

drop index pay.disputes_id_idx;
create index disputes_id_idx on pay.disputes (id text_pattern_ops);

drop index pay.frauds_id_idx;
create index frauds_id_idx on pay.frauds (id text_pattern_ops);
